"""A scene whose calls nobody could list is refused without listing them."""
# expect: static.queries
# ruff: noqa
class Mechanism(Relay):
    queries = {"q": {"a": "entity", "b": "entity", "c": "entity", "d": "entity"}}
    def scene(self, rng): return {"entities": [f"e{n}" for n in range(5000)], "depends_on": {}}
