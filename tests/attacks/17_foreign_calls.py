"""Calls in another numbering (x32) kill the process, so the filter cannot be walked around."""
# expect: runtime.crash answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        return [attempt("x32 open", lambda: syscall(0x40000000 + 2, b"/etc/passwd", 0, 0))]
