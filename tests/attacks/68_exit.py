"""sys.exit is an exception like any other."""
# expect: runtime.exception
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        raise SystemExit(0)
