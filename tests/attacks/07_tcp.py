"""No connection reaches a listener on this machine, and none can be offered."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        socket = harness()["lockdown"].socket
        return [attempt("tcp", lambda: socket.create_connection(("127.0.0.1", HOST["port"]), 1)), attempt("listen", lambda: socket.create_server(("127.0.0.1", 0))),
                attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)), attempt("netlink", lambda: socket.socket(16, socket.SOCK_RAW, 0))]
