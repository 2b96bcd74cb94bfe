"""No program can be run."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os = harness()["os"]
        return [attempt("execv", lambda: os.execv("/bin/true", ["true"])), attempt("system", lambda: os.system("true") == 0 or refused()),
                attempt("spawn", lambda: os.posix_spawn("/bin/true", ["true"], {})), attempt("execveat", lambda: syscall(322, -100, b"/bin/true", 0, 0, 0))]
