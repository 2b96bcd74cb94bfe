"""A source that the compiler chokes on costs one worker."""
# expect: static.source runtime.timeout runtime.crash runtime.exception
# ruff: noqa
x = ((((1 << 30) * 7) ** 5000000) and 0)
class Mechanism(Relay): pass
