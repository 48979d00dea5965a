# A child: runs sshd for mpirun, and stays until the main node says with which code to end.
from __future__ import annotations

import os
import select
import shlex
import socket
import time
from pathlib import Path
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import job, main_address, number
from gpufleet.jobs.node_runtime.connection import Link
from gpufleet.jobs.node_runtime.keys import HERE, make_folder, make_key
from gpufleet.jobs.node_runtime.process import End, code_of, find, start
from gpufleet.jobs.node_runtime.termination import asked, tell


# The connection to the main node, asked for as long as that may take to start.
def reach(plan: dict[str, Any]) -> Link:
    address = main_address()
    end = time.monotonic() + plan["patience"]
    while not asked:
        try:
            return Link(socket.create_connection((address, plan["port"]), 5))
        except OSError as error:
            if time.monotonic() > end:
                why = f"{plan['patience']} s: {error.strerror or error}"
                raise End(f"the main node {address}:{plan['port']} did not answer within {why}") from None
            time.sleep(1)
    raise End("ended before the main node answered", 143)


def start_sshd(plan: dict[str, Any], key: str) -> int:
    find("sshd", "openssh-server")
    make_folder()
    make_key("host")
    (HERE / "authorized_keys").write_text(key + "\n")
    # A session of sshd starts with a bare environment. The container's is this node's own, as are its credentials;
    # so in /, for OpenMPI reads a .profile where it starts, made for people who log in.
    names = (name for name in os.environ if name.isidentifier())
    exports = "".join(f"export {name}={shlex.quote(os.environ[name])}\n" for name in names)
    (HERE / "session").write_text(exports + 'cd /; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n')
    if not os.getuid():
        # Root's sshd locks itself into this directory.
        Path("/run/sshd").mkdir(exist_ok=True)
    sshd = start(plan["sshd"])
    for _ in range(100):
        if code_of(sshd) is not None:
            break
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", plan["ssh_port"])):
                return sshd
        time.sleep(0.1)
    raise End("sshd does not listen; look at this node's log")


def follow(plan: dict[str, Any]) -> int:
    link = reach(plan)
    link.send(f"node {job()} {number('NODE_INDEX')} {plan['slots']}")
    try:
        return serve(plan, link)
    except End as end:
        link.send(f"error {end}")
        raise


def serve(plan: dict[str, Any], link: Link) -> int:
    sshd, last = 0, 0.0
    while not last or time.monotonic() < last:
        if asked and not last:
            # The main node has all ranks told, these too, and ends the job when they have ended.
            link.send("notice")
            last = time.monotonic() + plan["grace"] - 1
        if sshd and code_of(sshd) is not None:
            raise End("sshd has ended; look at this node's log")
        if not select.select([link.place], [], [], 0.5)[0]:
            continue
        came = link.lines()
        if came is None:
            raise End(f"the main node {link.address} is gone; look at its log")
        for line in came:
            word, _, rest = line.partition(" ")
            if word == "key":
                sshd = start_sshd(plan, rest)
                link.send("ready")
            elif word == "notice":
                tell()
            elif word == "end":
                return int(rest)
            elif word == "refused":
                raise End(f"the main node {link.address} refuses this node: {rest}")
    return 143
