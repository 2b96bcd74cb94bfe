"""An object that claims to be an int is seen for what it is."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        class L:
            __class__ = int
            def __index__(self): return 5
        return [L()]
