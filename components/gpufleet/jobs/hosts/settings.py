"""The settings of jobs on plain hosts, from `hosts` of the output `jobs`, of a stack or in a file of one's own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from gpufleet.errors import UserError
from gpufleet.jobs.ssh.settings import OnpremServersOutput, SshTarget, parse_ssh_options, ssh_target, whole_number
from gpufleet.rules.messages import format_value, use_one_of

NETWORKS = ("plain", "infiniband")
MPIRUN = ("host", "image")
"""Whose mpirun starts the ranks of a job with an image."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)


class HostOutput(TypedDict, total=False):
    """One server, in the list `jobs.hosts.hosts`."""

    name: str
    """As mpirun's ssh takes it: a name or an IPv4 address."""
    slots: int
    """Ranks that it takes: its GPUs. Default 1."""


class HostsOutput(OnpremServersOutput, total=False):
    """The key `hosts` of the output `jobs`, beside what all on-prem servers have. `ssh` counts for mpirun too."""

    hosts: Sequence[HostOutput]
    interface: str
    """Network interface of MPI and NCCL. Default: their own choice."""
    network: str
    """plain or infiniband. Default: plain."""
    mpirun: str
    """One of MPIRUN, for jobs with an image. host: the host's, whose version and the image's have to agree. image: the
    image's, with one container for each host; hosts need no OpenMPI, and the image needs `ssh`. Default: host."""


@dataclass(frozen=True)
class HostsSettings:
    """On-prem servers that run an environment's jobs. slots: of each host, by name."""

    target: SshTarget
    slots: Mapping[str, int]
    ssh: Sequence[str] = field(default=())
    network: str = "plain"
    interface: str | None = None
    mpirun: str = "host"


def hosts_settings(jobs: Mapping[str, Any], environment: str) -> HostsSettings:
    """Read the output `jobs`. Errors: UserError if hosts are missing from it or not valid."""
    values = jobs.get("hosts")
    if not isinstance(values, Mapping):
        raise UserError(
            f"{environment}: its outputs have no hosts (jobs.hosts); write a file with them (docs/jobs.md) and give "
            "it as --outputs, or leave out --on hosts"
        )
    where = f"{environment}: jobs.hosts"
    found = values.get("hosts")
    if not isinstance(found, Sequence) or isinstance(found, str) or not found:
        raise UserError(f"{where}.hosts: must be a list of servers; write [{{name: gpu1, slots: 4}}]")
    slots: dict[str, int] = {}
    for each in found:
        host: object = {"name": each} if isinstance(each, str) else each
        name = host.get("name") if isinstance(host, Mapping) else None
        if not isinstance(host, Mapping) or not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UserError(f"{where}.hosts={format_value(each)}: is not a server; write {{name: gpu1, slots: 4}}")
        if name in slots:
            raise UserError(f"{where}.hosts={name}: is listed twice; list it once, with all of its slots")
        slots[name] = whole_number(host, "slots", f"{where}.hosts.{name}", 1) or 1
    network, mpirun = _one_of(values, "network", NETWORKS, where), _one_of(values, "mpirun", MPIRUN, where)
    interface = values.get("interface")
    if interface is not None and not re.fullmatch(r"[\w.@-]{1,15}", str(interface)):
        raise UserError(
            f"{where}.interface={format_value(interface)}: is not a network interface; use for instance eth0"
        )
    return HostsSettings(
        target=ssh_target(values, where),
        slots=slots,
        ssh=parse_ssh_options(values, where),
        network=network,
        interface=str(interface) if interface else None,
        mpirun=mpirun,
    )


def _one_of(values: Mapping[str, Any], key: str, legal: Sequence[str], where: str) -> str:
    """The value of a key, by default the first legal one. Errors: UserError."""
    found = str(values.get(key) or legal[0])
    if found not in legal:
        raise UserError(f"{where}.{key}={format_value(found)}: {use_one_of(found, legal)}")
    return found
