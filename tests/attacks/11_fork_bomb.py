"""No process can be started."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os = harness()["os"]
        return [attempt("fork", lambda: os.fork() or os._exit(0)), attempt("forkpty", lambda: os.forkpty()), attempt("vfork", lambda: syscall(58)), attempt("clone3", lambda: syscall(435, b"\0" * 88, 88)),
                attempt("clone", lambda: syscall(56, 17, 0, 0, 0, 0))]
