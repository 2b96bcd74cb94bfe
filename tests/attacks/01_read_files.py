"""No file of the host can be opened, by any way to open one."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os = harness()["os"]
        return [attempt("open", lambda: open(HOST["secret_path"]).read()), attempt("os.open", lambda: os.open("/etc/passwd", os.O_RDONLY)),
                attempt("openat2", lambda: syscall(437, -100, b"/etc/passwd", b"\0" * 24, 24)), attempt("code", lambda: open(harness()["__file__"]).read()),
                attempt("O_PATH", lambda: os.open("/", os.O_PATH)), attempt("proc", lambda: open("/proc/self/mem", "rb").read(1))]
