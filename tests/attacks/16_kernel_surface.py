"""Calls with a history of holes are refused: io_uring, bpf, perf, userfaultfd, keys, namespaces."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        names = {425: "io_uring", 321: "bpf", 298: "perf", 323: "userfaultfd", 250: "keyctl", 272: "unshare", 308: "setns", 435: "clone3", 155: "pivot_root", 175: "init_module", 319: "memfd", 29: "shmget", 154: "ldt"}
        return [attempt(n, lambda nr=nr: syscall(nr, 0, 0, 0, 0, 0)) for nr, n in names.items()]
