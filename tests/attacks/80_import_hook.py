"""An import hook of the mechanism's own finds no file either."""
# expect: answers
# ruff: noqa
import sys
class Hook:
    def find_spec(self, name, path=None, target=None): return None
sys.meta_path[:] = [Hook()]; sys.path[:] = ["/usr/lib/python3", "/tmp", "."]
class Mechanism(Attack):
    def attack(self): return [attempt(m, lambda m=m: __import__(m)) for m in ("subprocess", "socket", "asyncio", "urllib.request")]
