"""Ending a mechanism does not wait for its destructors."""
# expect: answers
# ruff: noqa
class Mechanism(Relay):
    def __del__(self):
        while True: pass
