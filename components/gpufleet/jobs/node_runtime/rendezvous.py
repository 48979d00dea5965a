# The main node's side of all connections: who has come, and who is gone.
from __future__ import annotations

import contextlib
import select
import signal
import socket
import time
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import batch_number, job_id
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import NodeExit, say
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
                try:
                    self.links.append(NodeConnection(self.server.accept()[0]))
                except OSError:
                    # Gone before it was let in; a child asks again.
                    continue
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

    def handle_line(self, link: NodeConnection, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "node":
            of, index, slots = [*rest.split(" "), "", ""][:3]
            if (of, slots) == (job_id(), str(self.plan["slots"])) and index in map(str, self.missing):
                link.index = int(index)
                self.missing.remove(link.index)
                link.send("key " + self.key)
            else:
                link.send(f"refused job {of}, index {index}, {slots} slots; this is job {job_id()}")
        elif link.index < 0:
            return
        elif word == "ready":
            link.ready = True
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
            late = sorted([*self.missing, *(index for index, link in here if not link.ready)])
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
