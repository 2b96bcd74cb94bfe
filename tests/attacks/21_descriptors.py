"""Only the jail's own pipes are there, and none can be duplicated, closed or redirected."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os, fcntl = harness()["os"], harness()["fcntl"]
        return [attempt("dup2", lambda: os.dup2(1, 4)), attempt("leash", lambda: os.close(5)), attempt("async", lambda: fcntl.fcntl(5, fcntl.F_SETFL, 0)), attempt("pipe", os.pipe)] + [
                attempt(f"write {n}", lambda n=n: os.write(n, b"x")) for n in (3, 5, *range(6, 64))]
