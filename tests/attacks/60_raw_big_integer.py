"""A number of 500000 digits does not hang the host's parser."""
# expect: runtime.protocol
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return raw_reply(b'{"id":2,"value":{"x":' + b"9" * 500_000 + b"}}")
