"""A process that stops itself is killed at the time limit."""
# expect: runtime.timeout
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os, signal = harness()["os"], harness()["signal"]
        syscall(234, os.getpid(), os.getpid(), int(signal.SIGSTOP))
