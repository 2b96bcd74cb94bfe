"""No device can be opened."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        os = harness()["os"]
        return [attempt(d, lambda d=d: os.open(d, os.O_RDONLY)) for d in ("/dev/mem", "/dev/tty", "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/nvidia0", "/dev/random")]
