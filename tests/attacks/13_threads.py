"""No thread outlives a call, because none starts."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        _thread = harness()["sys"].modules["_thread"]
        return [attempt("thread", lambda: _thread.start_new_thread(print, ()))]
