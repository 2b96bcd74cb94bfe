"""A frame of a million empty parts is refused before it is parsed."""
# expect: runtime.protocol runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return raw_reply(b'{"id":2,"value":[' + b"{}," * 300_000 + b"{}]}")
