"""Recursion inside C ends in an exception or one dead worker."""
# expect: runtime.exception runtime.crash answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        x = ()
        for _ in range(10**6): x = (x,)
        return [hash(x)]
