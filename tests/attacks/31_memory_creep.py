"""Many small pieces are bounded as one big piece is."""
# expect: runtime.exception runtime.crash
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        kept = []
        while True: kept.append(bytearray(1 << 20))
