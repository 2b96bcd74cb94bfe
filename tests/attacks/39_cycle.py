"""A reply that holds itself is refused."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        x = []; x.append(x)
        return x
