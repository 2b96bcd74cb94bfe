"""The stack and the heap hold nothing of the host: no secret, no fault, no reward."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        import inspect
        found, frame = [], inspect.currentframe()
        while frame: found += [repr(v)[:2000] for d in (frame.f_locals, frame.f_globals) for k, v in d.items() if k not in ("HOST", "source", "value")]; frame = frame.f_back
        return ["PWNED " + w for w in ("hunter2", "openadapt.reward", "PreparedWorld") if any(w in f for f in found)]
