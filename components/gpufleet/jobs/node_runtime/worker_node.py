# A child: runs its part of the launcher, and stays until the main node says with which code to end.
from __future__ import annotations

import hmac
import select
import socket
import time
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import batch_number, main_address
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.mpi_worker import join, process_ended, stop
from gpufleet.jobs.node_runtime.process import NodeExit, exit_code
from gpufleet.jobs.node_runtime.proof import proof
from gpufleet.jobs.node_runtime.termination import notify_ranks, signals_received


# The connection to the main node, asked for as long as that may take to start.
def connect_to_main(plan: dict[str, Any]) -> NodeConnection:
    address = main_address()
    end = time.monotonic() + plan["patience"]
    while not signals_received:
        try:
            return NodeConnection(socket.create_connection((address, plan["port"]), 5))
        except OSError as error:
            if time.monotonic() > end:
                why = f"{plan['patience']} s: {error.strerror or error}"
                raise NodeExit(f"the main node {address}:{plan['port']} did not answer within {why}") from None
            time.sleep(1)
    raise NodeExit("ended before the main node answered", 143)


# command: the user's, for a launcher that runs on each node.
def run_worker_node(plan: dict[str, Any], command: list[str]) -> int:
    link = connect_to_main(plan)
    try:
        return serve(plan, link, command)
    except NodeExit as end:
        link.send(f"error {end}")
        raise


def serve(plan: dict[str, Any], link: NodeConnection, command: list[str]) -> int:
    process, last = 0, 0.0
    try:
        while not last or time.monotonic() < last:
            if signals_received and not last:
                # The main node has all ranks told, these too, and ends the job when they have ended.
                link.send("notice")
                last = time.monotonic() + plan["grace"] - 1
            code = exit_code(process) if process else None
            if code is not None:
                process = process_ended(link, code)
            if not select.select([link.sock], [], [], 0.5)[0]:
                continue
            came = link.lines()
            if came is None:
                raise NodeExit(f"the main node {link.address} is gone; look at its log")
            for line in came:
                word, _, rest = line.partition(" ")
                if word == "hello":
                    link.nonce, index = rest, str(batch_number("NODE_INDEX"))
                    link.send(f"node {index} {proof(rest, index, str(plan['slots']))}")
                elif word == "key":
                    proven, _, key = rest.partition(" ")
                    if not hmac.compare_digest(proven.encode(), proof(link.nonce, key).encode()):
                        raise NodeExit(f"{link.address} is not the main node of this job; look at that node's job")
                    process, own = join(plan, key, link, command)
                    link.send("ready " + own)
                elif word == "notice":
                    notify_ranks()
                elif word == "end":
                    return int(rest)
                elif word == "refused":
                    why = "it is of another job or of other settings, or its place is taken"
                    raise NodeExit(f"the main node {link.address} rejected this node: {why}")
        return 143
    finally:
        stop(process)
