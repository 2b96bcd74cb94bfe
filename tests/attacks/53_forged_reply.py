"""A reply written behind the harness's back is a protocol error: two frames for one request."""
# expect: runtime.protocol
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        frame = b'{"id":2,"value":{"entities":["a","b","c"],"depends_on":{}}}'
        harness()["os"].write(4, len(frame).to_bytes(4, "little") + frame)
