"""No identity and no capability can be gained."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os = harness()["os"]
        return [attempt("setuid", lambda: os.setuid(0)), attempt("setresuid", lambda: os.setresuid(0, 0, 0)), attempt("setgroups", lambda: os.setgroups([0])), attempt("capset", lambda: syscall(126, 0, 0))]
