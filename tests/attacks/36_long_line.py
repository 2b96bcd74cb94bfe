"""A single text has a length limit."""
# expect: runtime.output runtime.protocol
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return ["x" * 10_000]
