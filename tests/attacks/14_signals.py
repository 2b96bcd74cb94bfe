"""No signal reaches the host, the parent, or anyone else."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os, signal = harness()["os"], harness()["signal"]
        return [attempt("host", lambda: os.kill(HOST["pid"], 0)), attempt("parent", lambda: os.kill(os.getppid(), 0)), attempt("all", lambda: os.kill(-1, 0)), attempt("group", lambda: os.killpg(0, 0)),
                attempt("tgkill", lambda: syscall(234, HOST["pid"], HOST["pid"], 0)), attempt("pidfd", lambda: os.pidfd_open(HOST["pid"]))]
