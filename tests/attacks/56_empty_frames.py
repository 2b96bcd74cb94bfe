"""Frames of length nought do not keep the host busy."""
# expect: runtime.protocol runtime.timeout runtime.output
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        while True: harness()["os"].write(4, bytes(4))
