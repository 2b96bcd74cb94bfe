"""Half a surrogate pair, which breaks files and terminals, does not cross."""
# expect: runtime.protocol
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return ["\ud800"]
