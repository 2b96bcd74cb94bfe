"""No name is looked up and no datagram leaves."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        socket = harness()["lockdown"].socket
        return [attempt("dns", lambda: socket.getaddrinfo("example.org", 80)), attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 53))),
                attempt("sendto", lambda: syscall(44, 4, b"x", 1, 0, 0, 0))]
