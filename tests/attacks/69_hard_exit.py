"""A process that ends itself is a crash."""
# expect: runtime.crash
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        harness()["os"]._exit(0)
