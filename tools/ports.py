"""Free TCP ports of 127.0.0.1."""

import random
import socket

FIRST, LAST = 20000, 32000
"""Below the range from which Linux takes ports for outgoing connections (32768 and up), so that none of those takes a
port between its choice and its use."""

TRIES = 200

_claims: list[socket.socket] = []
"""Names of the ports that this process has chosen: another process that chooses meanwhile takes others."""


class NoFreePort(Exception):
    """Every port that was tried is taken."""


def free_ports(count: int) -> list[int]:
    """Different ports on which nobody listens now, and which no other running process of ours has chosen.

    Raises NoFreePort.
    """
    found: list[int] = []
    for port in random.sample(range(FIRST, LAST), TRIES):
        if _free(port) and _claim(port):
            found.append(port)
        if len(found) == count:
            return found
    raise NoFreePort(f"no {count} free ports of 127.0.0.1 among {TRIES} tried between {FIRST} and {LAST}")


def _free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the servers of Go do: a port whose last connection is still closing is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _claim(port: int) -> bool:
    """Take the port's name, an abstract Unix socket of Linux's, which is given back when this process ends."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(f"\0gpufleet-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True
