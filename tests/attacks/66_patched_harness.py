"""Breaking the harness from within breaks one worker."""
# expect: runtime.protocol runtime.crash runtime.output runtime.exception
# ruff: noqa
class Mechanism(Relay):
    def scene(self, rng): harness()["dumps"] = lambda o: "[]"; harness()["plain"] = lambda o, w: o; harness()["send"].__code__ = (lambda text: sys.exit()).__code__
