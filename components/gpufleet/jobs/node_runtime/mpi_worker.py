# Another node of an MPI job: sshd, by which mpirun starts ranks here; torchrun_worker is its counterpart.
from __future__ import annotations

import os
import shlex
import signal
import socket
import time
from pathlib import Path
from typing import Any

from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.keys import make_folder, make_key
from gpufleet.jobs.node_runtime.process import HERE, NodeExit, exit_code, find_program, send_signal, start_process


# The process of sshd, and the public half of its key, by which the main node knows it.
def join(plan: dict[str, Any], key: str, link: NodeConnection, command: list[str]) -> tuple[int, str]:
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


# Returns the process that is watched from now on.
def process_ended(link: NodeConnection, code: int) -> int:
    raise NodeExit("sshd has ended; look at this node's log")


def stop(process: int) -> None:
    if process:
        send_signal(process, signal.SIGTERM)
