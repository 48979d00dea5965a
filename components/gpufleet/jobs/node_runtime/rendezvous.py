# The main node's side of all connections: the ranks that have come, and those that are gone.
from __future__ import annotations

import contextlib
import hmac
import os
import select
import signal
import socket
import time
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import batch_number
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import NodeExit, say
from gpufleet.jobs.node_runtime.proof import proof
from gpufleet.jobs.node_runtime.termination import signals_received


class Rendezvous:
    def __init__(self, plan: dict[str, Any], key: str, count: int) -> None:
        self.plan, self.key = plan, key
        self.missing = set(range(count)) - {batch_number("NODE_INDEX")}
        self.links: list[NodeConnection] = []
        self.server = socket.create_server(("", plan["port"]), backlog=1024)

    # Takes what comes within so many seconds; returns the nodes that are gone.
    def listen(self, seconds: float) -> list[NodeConnection]:
        gone = []
        places = {link.sock.fileno(): link for link in self.links}
        waiting = select.poll()
        for place in (self.server.fileno(), *places):
            waiting.register(place, select.POLLIN)
        for place, _ in waiting.poll(seconds * 1000):
            if place not in places:
                # One that is gone before it was let in asks again.
                with contextlib.suppress(OSError):
                    self.greet(NodeConnection(self.server.accept()[0]))
                continue
            link = places[place]
            came = link.lines()
            for line in came or []:
                self.handle_line(link, line)
            if came is None:
                self.links.remove(link)
                link.sock.close()
                if link.index >= 0:
                    gone.append(link)
        return gone

    # With a number that was never said before, so that no answer but a node's own fits.
    def greet(self, link: NodeConnection) -> None:
        link.nonce = os.urandom(16).hex()
        link.send("hello " + link.nonce)
        self.links.append(link)

    def handle_line(self, link: NodeConnection, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "node":
            index, _, proven = rest.partition(" ")
            known = proof(link.nonce, index, str(self.plan["slots"]))
            if index in map(str, self.missing) and hmac.compare_digest(proven.encode(), known.encode()):
                link.index = int(index)
                self.missing.remove(link.index)
                link.send(f"key {proof(link.nonce, self.key)} {self.key}")
            else:
                link.send("refused")
        elif link.index < 0:
            return
        elif word == "ready":
            link.host_key = rest
        elif word == "notice":
            signals_received.append(signal.SIGTERM)
        elif word == "error":
            raise NodeExit(f"node {link.index} ({link.address}): {rest}")

    # Returns the nodes, by index, when all have come and their sshd listens.
    def gather(self) -> list[NodeConnection]:
        told = time.monotonic()
        end = told + self.plan["patience"]
        while True:
            here = sorted((link.index, link) for link in self.links if link.index >= 0)
            late = sorted([*self.missing, *(index for index, link in here if not link.host_key)])
            if not late:
                return [link for _, link in here]
            names = ", ".join(map(str, late[:20])) + f" and {len(late) - 20} more" * (len(late) > 20)
            now = time.monotonic()
            if now > end:
                raise NodeExit(
                    f"nodes that did not come within {self.plan['patience']} s: {names}; see their state and log"
                )
            if now > told + 30:
                say("waiting for nodes " + names)
                told = now
            for link in self.listen(0.5):
                raise NodeExit(f"node {link.index} ({link.address}) left before the start; look at its log")
            if signals_received:
                raise NodeExit("ended before all nodes had come", 143)

    def end(self, code: int) -> None:
        end = time.monotonic() + 5
        for link in self.links:
            link.send(f"end {code}")
        while self.links and time.monotonic() < end:
            # What is wrong with a node does not matter any more.
            with contextlib.suppress(NodeExit):
                self.listen(0.2)
