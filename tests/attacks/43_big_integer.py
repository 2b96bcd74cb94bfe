"""An integer of many digits does not cross."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [1 << 4000]
