"""A float with a repr of its own is refused."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        class F(float):
            def __repr__(self): return "NaN"
        return [F(0.5)]
