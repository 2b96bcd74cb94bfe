"""A loop inside C code ends at the time limit."""
# expect: runtime.timeout
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        import re
        re.match("(a*)*b", "a" * 60)
