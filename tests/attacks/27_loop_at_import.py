"""Module code has a time limit too."""
# expect: runtime.timeout
# ruff: noqa
while True: pass
