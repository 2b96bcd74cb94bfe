"""Keys that JSON would silently turn into strings are refused."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [{1: "a"}]
