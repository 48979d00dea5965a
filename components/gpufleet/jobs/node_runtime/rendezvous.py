# The main node's side of all connections: who has come, and who is gone.
from __future__ import annotations

import contextlib
import select
import signal
import socket
import time
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import job, number
from gpufleet.jobs.node_runtime.connection import Link
from gpufleet.jobs.node_runtime.process import End, say
from gpufleet.jobs.node_runtime.termination import asked


class Rendezvous:
    def __init__(self, plan: dict[str, Any], key: str, count: int) -> None:
        self.plan, self.key = plan, key
        self.missing = set(range(count)) - {number("NODE_INDEX")}
        self.links: list[Link] = []
        self.door = socket.create_server(("", plan["port"]), backlog=1024)

    # Takes what comes within so many seconds; returns the nodes that are gone.
    def listen(self, seconds: float) -> list[Link]:
        gone = []
        places = {link.place.fileno(): link for link in self.links}
        waiting = select.poll()
        for place in (self.door.fileno(), *places):
            waiting.register(place, select.POLLIN)
        for place, _ in waiting.poll(seconds * 1000):
            if place not in places:
                try:
                    self.links.append(Link(self.door.accept()[0]))
                except OSError:
                    # Gone before it was let in; a child asks again.
                    continue
                continue
            link = places[place]
            came = link.lines()
            for line in came or []:
                self.hear(link, line)
            if came is None:
                self.links.remove(link)
                link.place.close()
                if link.index >= 0:
                    gone.append(link)
        return gone

    def hear(self, link: Link, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "node":
            of, index, slots = [*rest.split(" "), "", ""][:3]
            if (of, slots) == (job(), str(self.plan["slots"])) and index in map(str, self.missing):
                link.index = int(index)
                self.missing.remove(link.index)
                link.send("key " + self.key)
            else:
                link.send(f"refused job {of}, index {index}, {slots} slots; this is job {job()}")
        elif link.index < 0:
            return
        elif word == "ready":
            link.ready = True
        elif word == "notice":
            asked.append(signal.SIGTERM)
        elif word == "error":
            raise End(f"node {link.index} ({link.address}): {rest}")

    # Returns the nodes, by index, when all have come and their sshd listens.
    def gather(self) -> list[Link]:
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
                raise End(f"nodes that did not come within {self.plan['patience']} s: {names}; see their state and log")
            if now > told + 30:
                say("waiting for nodes " + names)
                told = now
            for link in self.listen(0.5):
                raise End(f"node {link.index} ({link.address}) left before the start; look at its log")
            if asked:
                raise End("ended before all nodes had come", 143)

    def end(self, code: int) -> None:
        end = time.monotonic() + 5
        for link in self.links:
            link.send(f"end {code}")
        while self.links and time.monotonic() < end:
            # What is wrong with a node does not matter any more.
            with contextlib.suppress(End):
                self.listen(0.2)
