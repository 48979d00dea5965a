# The connection between a child and the main node, on which lines are exchanged. It also tells each that the other is
# alive: one that vanishes without a word is noticed within 90 seconds.
from __future__ import annotations

import contextlib
import socket


class NodeConnection:
    index, host_key, nonce, rest = -1, "", "", b""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.address = sock.getpeername()[0]
        sock.settimeout(10)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            (socket.TCP_KEEPIDLE, 30),
            (socket.TCP_KEEPINTVL, 10),
            (socket.TCP_KEEPCNT, 6),
            (socket.TCP_USER_TIMEOUT, 90000),
        ):
            sock.setsockopt(socket.IPPROTO_TCP, option, value)

    def send(self, line: str) -> None:
        # Whether the other side is gone, the next read tells.
        with contextlib.suppress(OSError):
            self.sock.sendall(line.encode() + b"\n")

    # The lines that have come; None when the other side is gone, or talks of something else.
    def lines(self) -> list[str] | None:
        try:
            came = self.sock.recv(4096)
        except OSError:
            return None
        *whole, self.rest = (self.rest + came).split(b"\n")
        return [line.decode(errors="replace") for line in whole] if came and len(self.rest) < 4096 else None
