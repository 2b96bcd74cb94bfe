"""Words for a terminal or a model come out printable."""
# expect: runtime.exception
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        raise ValueError("\x1b]0;owned\x07 \u202e \x00")
