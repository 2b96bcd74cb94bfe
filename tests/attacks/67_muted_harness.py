"""A harness that was made to keep silent is a timeout."""
# expect: runtime.timeout
# ruff: noqa
harness()["send"].__code__ = (lambda text: None).__code__
class Mechanism(Relay): pass
