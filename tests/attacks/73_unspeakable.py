"""An exception whose words cannot be had, or are endless, is reported in bounds."""
# expect: runtime.exception runtime.crash
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        class E(Exception):
            def __str__(self): raise self
        raise E from ValueError("x" * 10**6)
