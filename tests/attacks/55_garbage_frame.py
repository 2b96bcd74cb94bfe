"""Garbage is refused at its length."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        harness()["os"].write(4, b"\xff" * 64)
