"""A float that prints as something else crosses as its number or not at all."""
# expect: answers runtime.output
# ruff: noqa
class F(float):
    def __repr__(self): return "NaN"
class Mechanism(Relay):
    def query(self, scene, fault, verb, args):
        return [{"slot": "s", "kind": "metric", "source": "x", "at": 0, "text": "load {load}", "values": {"load": [F(1), F(1), F(1)]}}]
