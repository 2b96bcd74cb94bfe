"""Recursion ends in an exception."""
# expect: runtime.exception
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        def down(n): return down(n + 1) + 1
        return [down(0)]
