"""A port that stays with one server while that is closed and opened."""

import socket


class KeptPort:
    """A port of this machine that nothing else is given, whether or not a server listens at it: if none does,
    connections are refused.

    The socket is bound and never listens. Another socket of this process may be bound beside it, as servers allow it.
    """

    def __init__(self):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", 0))
        self.number = self.socket.getsockname()[1]
