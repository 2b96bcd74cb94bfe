"""The memory of other processes can neither be read nor written."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [attempt("ptrace", lambda: syscall(101, 16, HOST["pid"], 0, 0)), attempt("readv", lambda: syscall(310, HOST["pid"], b"\0" * 16, 1, b"\0" * 16, 1, 0)),
                attempt("kcmp", lambda: syscall(312, HOST["pid"], HOST["pid"], 0, 0, 0)), attempt("getfd", lambda: syscall(438, 3, 1, 0))]
