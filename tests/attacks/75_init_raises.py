"""A constructor that raises is reported with its line."""
# expect: runtime.exception
# ruff: noqa
class Mechanism(Relay):
    def __init__(self): raise RuntimeError('no')
