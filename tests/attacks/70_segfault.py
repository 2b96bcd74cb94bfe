"""A crash of the interpreter costs one worker."""
# expect: runtime.crash
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        harness()["lockdown"].ctypes.string_at(8)
