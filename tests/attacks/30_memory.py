"""Memory is bounded; the trace says MemoryError."""
# expect: runtime.exception
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [len(bytearray(1 << 30))]
