"""Lists where names belong are refused, not stumbled over."""
# expect: semantic.faults_form
# ruff: noqa
class Mechanism(Relay):
    def faults(self, scene): return [[["a"], {"b": 1}]]
