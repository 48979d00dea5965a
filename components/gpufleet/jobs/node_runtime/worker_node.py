# A child: runs sshd for mpirun, and stays until the main node says with which code to end.
from __future__ import annotations

import hmac
import os
import select
import shlex
import socket
import time
from pathlib import Path
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import batch_number, main_address
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.keys import HERE, make_folder, make_key, proof
from gpufleet.jobs.node_runtime.process import NodeExit, exit_code, find_program, start_process
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


# The process of sshd, and the public half of its key, by which the main node knows it.
def start_sshd(plan: dict[str, Any], key: str) -> tuple[int, str]:
    find_program("sshd", "openssh-server")
    make_folder()
    own = make_key("host")
    (HERE / "authorized_keys").write_text(key + "\n")
    # A session of sshd starts with a bare environment. The container's is this node's own, as are its credentials;
    # so in /, for OpenMPI reads a .profile where it starts, made for people who log in.
    names = (name for name in os.environ if name.isidentifier())
    exports = "".join(f"export {name}={shlex.quote(os.environ[name])}\n" for name in names)
    (HERE / "session").write_text(exports + 'cd /; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n')
    if not os.getuid():
        # Root's sshd locks itself into this directory.
        Path("/run/sshd").mkdir(exist_ok=True)
    sshd = start_process(plan["sshd"])
    for _ in range(100):
        if exit_code(sshd) is not None:
            break
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", plan["ssh_port"])):
                return sshd, own
        time.sleep(0.1)
    raise NodeExit("sshd does not listen; look at this node's log")


def run_worker_node(plan: dict[str, Any]) -> int:
    link = connect_to_main(plan)
    try:
        return serve(plan, link)
    except NodeExit as end:
        link.send(f"error {end}")
        raise


def serve(plan: dict[str, Any], link: NodeConnection) -> int:
    sshd, last = 0, 0.0
    while not last or time.monotonic() < last:
        if signals_received and not last:
            # The main node has all ranks told, these too, and ends the job when they have ended.
            link.send("notice")
            last = time.monotonic() + plan["grace"] - 1
        if sshd and exit_code(sshd) is not None:
            raise NodeExit("sshd has ended; look at this node's log")
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
                sshd, own = start_sshd(plan, key)
                link.send("ready " + own)
            elif word == "notice":
                notify_ranks()
            elif word == "end":
                return int(rest)
            elif word == "refused":
                why = "it is of another job or of other settings, or its place is taken"
                raise NodeExit(f"the main node {link.address} rejected this node: {why}")
    return 143
