"""KeyboardInterrupt raised in the jail does not interrupt the host."""
# expect: runtime.exception
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        raise KeyboardInterrupt
