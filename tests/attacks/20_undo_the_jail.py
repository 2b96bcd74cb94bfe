"""The layers cannot be taken off, loosened or replaced."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        lockdown, resource = harness()["lockdown"], harness()["lockdown"].resource
        prctl = lambda *a: lockdown.libc.prctl(*a) == 0 or refused()
        return [attempt("seccomp off", lambda: prctl(22, 0, 0, 0, 0)), attempt("new privileges", lambda: prctl(38, 0, 0, 0, 0)), attempt("dumpable", lambda: prctl(4, 1, 0, 0, 0)),
                attempt("second filter", lockdown.seccomp), attempt("landlock", lockdown.landlock), attempt("limits", lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40)))]
