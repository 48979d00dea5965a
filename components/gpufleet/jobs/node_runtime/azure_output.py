# The output of a node's ranks on Azure Batch, which shows the primary's alone: it is sent there line by line, and kept
# in the node's own file; aws_output is its counterpart.
from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import Any

from gpufleet.jobs.node_runtime.connection import NodeConnection

# The file of this node, the thread that copies, and the door at which azure_context asks whether this node is there:
# sshd's port, which has no sshd here.
output: list[Any] = []


# From here on what this process and those that it starts write goes both ways.
def forward_output(link: NodeConnection) -> None:
    lock, send = threading.Lock(), link.send

    def send_whole(line: str) -> None:
        with lock:
            send(line)

    link.__dict__["send"] = send_whole
    read, write = os.pipe()
    file = os.dup(1)
    os.dup2(write, 1)
    os.dup2(write, 2)
    os.close(write)
    thread = threading.Thread(target=copy_output, args=(read, file, link), daemon=True)
    thread.start()
    output.extend((file, thread))
    with contextlib.suppress(OSError):
        output.append(socket.create_server(("", 2222)))


# A line that is longer than a message may be comes in pieces, as does one whose end is yet to come.
def copy_output(read: int, file: int, link: NodeConnection) -> None:
    begun, came = b"", b"-"
    while came:
        came = os.read(read, 65536)
        os.write(file, came)
        *whole, begun = (begun + came).split(b"\n")
        for line in whole:
            send_line(link, send_pieces(link, line))
        begun = send_pieces(link, begun)
    if begun:
        send_line(link, begun)


# Returns the last piece, which is not sent.
def send_pieces(link: NodeConnection, line: bytes) -> bytes:
    while len(line) > 1000:
        send_line(link, line[:1000])
        line = line[1000:]
    return line


def send_line(link: NodeConnection, line: bytes) -> None:
    link.send("log " + line.decode(errors="replace"))


# Waits for what has been written, when who wrote it has ended.
def finish_output() -> None:
    if output:
        os.dup2(output[0], 1)
        os.dup2(output[0], 2)
        output[1].join(5)
