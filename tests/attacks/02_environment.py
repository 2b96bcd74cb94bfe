"""The host's environment is not there: not in os.environ, not in the C library, not in /proc."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os = harness()["os"]
        pointer = harness()["lockdown"].ctypes.POINTER(harness()["lockdown"].ctypes.c_char_p)
        names, at = pointer.in_dll(harness()["lockdown"].libc, "environ"), 0
        found = [str(dict(os.environ))]
        while names and names[at]: found.append(repr(names[at])); at += 1
        return found + [attempt("proc", lambda: open("/proc/%d/environ" % os.getppid(), "rb").read())]
