# The main node's side of all connections of a torchrun job: it also hears how the others' torchrun ends.
from __future__ import annotations

from typing import Any

from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import NodeExit, say
from gpufleet.jobs.node_runtime.rendezvous import Rendezvous
from gpufleet.jobs.node_runtime.termination import signals_received


# running: the others whose torchrun has not ended. code: the first one's that was not 0.
class TorchrunRendezvous(Rendezvous):
    def __init__(self, plan: dict[str, Any], count: int) -> None:
        super().__init__(plan, "-", count)
        self.running, self.code = set(self.missing), 0

    def handle_line(self, link: NodeConnection, line: str) -> None:
        word, _, rest = line.partition(" ")
        if link.index >= 0 and word == "log":
            print(rest, flush=True)
            return
        if word != "ended" or link.index < 0:
            super().handle_line(link, line)
            return
        self.running.discard(link.index)
        self.code = self.code or int(rest)
        if int(rest) and not signals_received:
            told = f"torchrun of node {link.index} ({link.address}) has ended with code {rest}; look at its log"
            if self.missing:
                raise NodeExit(told)
            say(told)
