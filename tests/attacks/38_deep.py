"""A reply has a depth limit."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        x = []
        for _ in range(500): x = [x]
        return x
