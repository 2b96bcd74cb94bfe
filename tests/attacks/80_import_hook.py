"""An import hook of the mechanism's own finds no file either."""
# expect: answers
# ruff: noqa
import inspect
sys = inspect.sys
class Hook:
    def find_spec(self, name, path=None, target=None): return None
sys.meta_path[:] = [Hook()]; sys.path[:] = ["/usr/lib/python3", "/tmp", "."]
class Mechanism(Attack):
    def attack(self): return [attempt(m, lambda m=m: sys.modules["importlib._bootstrap"]._gcd_import(m)) for m in ("subprocess", "asyncio", "urllib.request", "multiprocessing")]
