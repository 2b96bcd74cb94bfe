"""A source without the class is refused."""
# expect: static.source
# ruff: noqa
class Mechanisms(Relay): pass
