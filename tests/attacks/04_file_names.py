"""Names and sizes of host files stay unknown."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os = harness()["os"]
        return [attempt("stat", lambda: os.stat(HOST["secret_path"]).st_size), attempt("list", lambda: os.listdir("/")), attempt("cwd", os.getcwd),
                attempt("access", lambda: os.access("/etc/passwd", os.F_OK) or refused()), attempt("readlink", lambda: os.readlink("/proc/self/exe"))]
