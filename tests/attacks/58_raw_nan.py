"""A hand-written NaN is refused by the host."""
# expect: runtime.protocol
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return raw_reply(b'{"id":2,"value":{"x":NaN}}')
