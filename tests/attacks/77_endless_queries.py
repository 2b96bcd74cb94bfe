"""A vocabulary whose calls nobody could list is refused without listing them."""
# expect: static.queries
# ruff: noqa
class Mechanism(Relay):
    queries = {'q': {f'a{n}': [f'v{m}' for m in range(50)] for n in range(12)}}
