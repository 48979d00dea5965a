"""What jobs on plain hosts need to know, from `hosts` of the output `jobs`, of a stack or in a file of one's own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from gpufleet.errors import UserError
from gpufleet.jobs.ssh.settings import OnpremServersOutput, SshTarget, place_of, ssh_words, whole
from gpufleet.rules.messages import shown, use_one_of

NETWORKS = ("plain", "infiniband")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)


class HostOutput(TypedDict, total=False):
    """One server, in the list `jobs.hosts.hosts`."""

    name: str
    """As mpirun's ssh takes it: a name or an IPv4 address."""
    slots: int
    """Ranks that it takes: its GPUs. Default 1."""


class HostsOutput(OnpremServersOutput, total=False):
    """The key `hosts` of the output `jobs`, beside what all own servers have. `ssh` counts for mpirun too."""

    hosts: Sequence[HostOutput]
    interface: str
    """Network interface of MPI and NCCL. Default: their own choice."""
    network: str
    """plain or infiniband. Default: plain."""


@dataclass(frozen=True)
class HostsSettings:
    """Own servers, as an environment's jobs see them. slots: of each host, by name."""

    place: SshTarget
    slots: Mapping[str, int]
    ssh: Sequence[str] = field(default=())
    network: str = "plain"
    interface: str | None = None


def hosts_settings(jobs: Mapping[str, Any], environment: str) -> HostsSettings:
    """Read the output `jobs`. Errors: UserError when it tells of no hosts, or of such that cannot be."""
    told = jobs.get("hosts")
    if not isinstance(told, Mapping):
        raise UserError(
            f"{environment}: its outputs tell of no hosts (jobs.hosts); write a file with them (docs/jobs.md) and give "
            "it as --outputs, or leave out --on hosts"
        )
    where = f"{environment}: jobs.hosts"
    found = told.get("hosts")
    if not isinstance(found, Sequence) or isinstance(found, str) or not found:
        raise UserError(f"{where}.hosts: is no list of servers; write [{{name: gpu1, slots: 4}}]")
    slots: dict[str, int] = {}
    for each in found:
        host: object = {"name": each} if isinstance(each, str) else each
        name = host.get("name") if isinstance(host, Mapping) else None
        if not isinstance(host, Mapping) or not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UserError(f"{where}.hosts={shown(each)}: is no server; write {{name: gpu1, slots: 4}}")
        if name in slots:
            raise UserError(f"{where}.hosts={name}: is there twice; name it once, with all of its slots")
        slots[name] = whole(host, "slots", f"{where}.hosts.{name}", 1) or 1
    network = str(told.get("network") or NETWORKS[0])
    if network not in NETWORKS:
        raise UserError(f"{where}.network={shown(network)}: {use_one_of(network, NETWORKS)}")
    interface = told.get("interface")
    if interface is not None and not re.fullmatch(r"[\w.@-]{1,15}", str(interface)):
        raise UserError(f"{where}.interface={shown(interface)}: is no network interface; use for instance eth0")
    return HostsSettings(
        place=place_of(told, where),
        slots=slots,
        ssh=ssh_words(told, where),
        network=network,
        interface=str(interface) if interface else None,
    )
