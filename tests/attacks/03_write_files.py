"""Nothing can be written anywhere: not in the working directory, not in a folder open to all."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os = harness()["os"]
        return [attempt(p, lambda p=p: os.open(p, os.O_CREAT | os.O_WRONLY)) for p in
                ("here", "/tmp/openadapt-attack", "/dev/shm/openadapt-attack", "/openadapt-attack", HOST["open_folder"] + "/openadapt-attack")] + [
                attempt("mkdir", lambda: os.mkdir(HOST["open_folder"] + "/openadapt-attack-dir")), attempt("unlink", lambda: os.unlink(HOST["secret_path"])),
                attempt("chmod", lambda: os.chmod(HOST["secret_path"], 0o777)), attempt("truncate", lambda: os.truncate(HOST["secret_path"], 0))]
