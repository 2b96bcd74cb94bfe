"""A method that returns nothing gets a message that says so."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Relay):
    def query(self, scene, fault, verb, args): pass
