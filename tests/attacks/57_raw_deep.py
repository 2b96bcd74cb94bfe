"""A parser bomb of brackets is refused before or in parsing."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return raw_reply(b"[" * 200_000 + b"]" * 200_000)
