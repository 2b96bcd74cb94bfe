"""A hand-written number that overflows is refused by the host."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return raw_reply(b'{"id":2,"value":{"x":1e999}}')
