# The main node: makes a key pair, waits for the others, runs mpirun, and ends all with its exit code.
from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import time
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import batch_number, job_exit_code, rank_hosts
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.keys import HERE, make_folder, make_key
from gpufleet.jobs.node_runtime.process import NodeExit, exit_code, find_program, send_signal, start_process
from gpufleet.jobs.node_runtime.rendezvous import Rendezvous
from gpufleet.jobs.node_runtime.termination import notify_ranks, signals_received


def interface_name(address: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                # SIOCGIFADDR, see netdevice(7)
                found = fcntl.ioctl(probe, 0x8915, struct.pack("256s", name.encode()))
            except OSError:
                # It has no IPv4 address.
                continue
            if socket.inet_ntoa(found[20:24]) == address:
                return name
    raise NodeExit(f"no network interface has this node's address {address}")


def run_main_node(plan: dict[str, Any], command: list[str]) -> int:
    count, meeting, code = batch_number("NUM_NODES") or 1, None, 1
    try:
        make_folder()
        nodes: list[NodeConnection] = []
        if count > 1:
            find_program("ssh", "openssh-client")
            meeting = Rendezvous(plan, make_key("key"), count)
            nodes = meeting.gather()
            # The address that the others know.
            address = nodes[0].sock.getsockname()[0]
        else:
            address = "127.0.0.1"
        # Containers of single jobs share their instance's ports.
        with socket.socket() as probe:
            probe.bind((address, 0))
            port = str(probe.getsockname()[1])
        (HERE / "hostfile").write_text(
            "".join(f"{host} slots={plan['slots']}\n" for host in rank_hosts(address, nodes))
        )
        # Of a node that was proven to be the job's: see rendezvous.
        (HERE / "known_hosts").write_text("".join(f"gpufleet {node.host_key}\n" for node in nodes))
        for name, value in plan["env"].items():
            os.environ[name] = value.replace("{main}", address).replace("{port}", port)
            os.environ[name] = os.environ[name].replace("{interface}", interface_name(address))
        if not os.getuid():
            os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        if plan["mpirun"]:
            command = ["mpirun", "-np", str(count * plan["slots"]), *plan["mpirun"], *command]
        find_program(command[0], "openmpi-bin")
        code = run_mpirun(plan, command, meeting)
    except NodeExit as end:
        code = end.code
        raise
    finally:
        if meeting:
            meeting.end(code)
    return code


def run_mpirun(plan: dict[str, Any], command: list[str], meeting: Rendezvous | None) -> int:
    mpirun, told, gone = start_process(command), False, None
    ends: list[tuple[float, signal.Signals]] = []
    while True:
        code = exit_code(mpirun)
        if code is not None:
            break
        now = time.monotonic()
        for link in meeting.listen(0.5) if meeting else []:
            gone = gone or link
            # mpirun notices by itself, but where the node's network is gone with it.
            ends = ends or [(now + 10, signal.SIGTERM), (now + 15, signal.SIGKILL)]
        if not meeting:
            time.sleep(0.5)
        if signals_received and not told:
            told = True
            for link in meeting.links if meeting else []:
                link.send("notice")
            notify_ranks()
            # mpirun ends its ranks a second after SIGTERM: late, so that they can save, and before Batch does.
            end = now + plan["grace"]
            ends = [(end - 6, signal.SIGTERM), (end - 2, signal.SIGKILL)]
        if ends and now > ends[0][0]:
            send_signal(mpirun, ends.pop(0)[1])
    return job_exit_code(code, gone, meeting.links if meeting else [])
