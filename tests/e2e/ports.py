"""Ports of this machine that tests may take."""

import fcntl
import random
import socket
import tempfile
from pathlib import Path


def free_port():
    """A port that no other test takes: below the range from which the system chooses, and locked while this process lives."""
    folder = Path(tempfile.gettempdir()) / "plumb-test-ports"
    folder.mkdir(mode=0o777, exist_ok=True)
    while True:
        port = random.randrange(20000, 30000)
        lock = open(folder / str(port), "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as listener:
                listener.bind(("127.0.0.1", port))
        except OSError:
            lock.close()
            continue
        PORTS.append(lock)
        return port


PORTS = []
"""Locks of the ports that this process has taken."""
