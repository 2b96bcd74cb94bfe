"""A reply has a size limit."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return ["x" * (2 << 20)]
