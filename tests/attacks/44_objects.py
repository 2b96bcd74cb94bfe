"""Only JSON types cross; an object is refused with its place."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [{"a": {1, 2}}]
