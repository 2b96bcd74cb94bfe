"""A frame that never ends is a timeout."""
# expect: runtime.timeout
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        harness()["os"].write(4, (1000).to_bytes(4, "little") + b"{")
        while True: pass
