"""A table has a size limit of its own."""
# expect: runtime.output runtime.timeout runtime.exception
# ruff: noqa
class Mechanism(Relay):
    n = 0
    def query(self, scene, fault, verb, args):
        Mechanism.n += 1
        return [{"slot": "s", "kind": "log", "source": "x", "at": 0, "text": str(Mechanism.n) * 50_000, "values": {}}]
