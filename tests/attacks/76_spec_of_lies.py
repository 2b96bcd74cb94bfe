"""Attributes that are no data are refused."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Relay):
    name = property(lambda self: self)
