"""A generator is no list."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Relay):
    def faults(self, scene):
        while True: yield ("a", "b")
