"""A made-up error is still only an error, with bounded words."""
# expect: runtime.exception
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return raw_reply(b'{"id":2,"error":{"kind":"static.source","message":[],"traceback":{"a":1}}}')
