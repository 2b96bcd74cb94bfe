"""No link, rename or mount can bring a host file within reach."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os, target = harness()["os"], HOST["secret_path"]
        return [attempt("symlink", lambda: os.symlink(target, "s")), attempt("link", lambda: os.link(target, "l")), attempt("rename", lambda: os.rename(target, target + "2")),
                attempt("chroot", lambda: os.chroot("/")), attempt("chdir", lambda: os.chdir("/")), attempt("mount", lambda: syscall(165, b"none", b"/tmp", b"tmpfs", 0, 0))]
