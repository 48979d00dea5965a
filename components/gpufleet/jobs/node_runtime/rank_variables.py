# Variables of the ranks, as far as only their node knows the values.
from __future__ import annotations

import fcntl
import os
import socket
import struct

from gpufleet.jobs.node_runtime.process import NodeExit


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


# main: the main node's address. own: this node's.
def set_variables(variables: dict[str, str], main: str, own: str) -> None:
    # Containers of single jobs share their instance's ports.
    with socket.socket() as probe:
        probe.bind((own, 0))
        port = str(probe.getsockname()[1])
    for name, value in variables.items():
        value = value.replace("{main}", main).replace("{port}", port)
        os.environ[name] = value.replace("{interface}", interface_name(own))
