"""No socket file and no abstract name on the host can be reached."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        socket = harness()["lockdown"].socket
        def connect(name):
            s = socket.socket(socket.AF_UNIX); s.connect(name)
        return [attempt(n, lambda n=n: connect(n)) for n in ("\0" + HOST["abstract"], "/var/run/docker.sock", "/run/systemd/private")] + [attempt("pair", socket.socketpair)]
