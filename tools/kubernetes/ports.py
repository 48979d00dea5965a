"""Free TCP ports of 127.0.0.1."""

import random
import socket

FIRST, LAST = 20000, 32000
"""Below the range from which Linux takes ports for outgoing connections (32768 and up), so that none of those takes a
port between its choice and its use."""

TRIES = 200


class NoFreePort(Exception):
    """Every port that was tried is taken."""


def free_ports(count: int) -> list[int]:
    """Different ports on which nobody listens now. Raises NoFreePort."""
    found: list[int] = []
    for port in random.sample(range(FIRST, LAST), TRIES):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # As the servers of Go do: a port whose last connection is still closing is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise NoFreePort(f"no {count} free ports of 127.0.0.1 among {TRIES} tried between {FIRST} and {LAST}")
