"""Module code is jailed as much as the methods are."""
# expect: runtime.exception
# ruff: noqa
import socket
socket.create_connection(("127.0.0.1", HOST["port"]))
class Mechanism(Relay): pass
