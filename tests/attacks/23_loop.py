"""An endless loop ends at the time limit, and the trace names its line."""
# expect: runtime.timeout
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        while True: pass
