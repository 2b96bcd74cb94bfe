"""Reading the request pipe gets nothing: requests come one at a time."""
# expect: runtime.timeout
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [harness()["os"].read(3, 1000).decode()]
