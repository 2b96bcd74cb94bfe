"""A table whose index points outside its pool is refused."""
# expect: runtime.protocol
# ruff: noqa
class Mechanism(Relay):
    def scene(self, rng): harness()["pooled"] = None; harness()["Harness"].table = harness()["Harness"].briefs = lambda *a: '{"pool":[],"index":[[-1,99]]}'; return super().scene(rng)
