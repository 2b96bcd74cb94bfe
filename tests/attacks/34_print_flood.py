"""Printing is captured, and bounded."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        while True: print("x" * 1000)
