"""Bytes, a pickle for one, do not cross."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [b"cos\nsystem\n(S'id'\ntR."]
