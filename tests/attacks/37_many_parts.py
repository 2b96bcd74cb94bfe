"""A reply has a limit on its number of parts."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [0] * 300_000
