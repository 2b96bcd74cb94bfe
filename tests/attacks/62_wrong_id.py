"""A reply to another request is refused."""
# expect: runtime.protocol
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return raw_reply(b'{"id":1,"value":{}}')
