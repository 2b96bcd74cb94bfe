"""A process that blocks every signal and cancels its alarm is killed all the same."""
# expect: runtime.timeout
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        signal = harness()["signal"]
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)); signal.setitimer(signal.ITIMER_REAL, 0)
        import time
        while True: time.sleep(100)
