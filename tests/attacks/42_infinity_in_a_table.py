"""Infinity does not cross in the bulk call either."""
# expect: runtime.output
# ruff: noqa
class Mechanism(Relay):
    def query(self, scene, fault, verb, args):
        return [{"slot": "s", "kind": "metric", "source": "x", "at": 0, "text": "load {load}", "values": {"load": [float("inf"), 1, 1]}}]
