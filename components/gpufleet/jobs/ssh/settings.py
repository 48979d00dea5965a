"""Settings of on-prem servers, from the stack's output or a file: the keys that Slurm and plain hosts share."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from gpufleet.errors import UserError
from gpufleet.jobs.ssh.connection import SshConnection
from gpufleet.rules.messages import format_value

_DIRECTORY = re.compile(r"/[\w./@+-]*", re.ASCII)
"""A path without characters that a shell or sbatch interprets."""
_HOST = re.compile(r"[\w@.:][\w@.:-]*", re.ASCII)


class OnpremServersOutput(TypedDict, total=False):
    """Keys of both `jobs.slurm` and `jobs.hosts`."""

    login: str
    """Machine that jobs are started from, as ssh takes it. Default: this one."""
    ssh: str
    """Further arguments of ssh, in one text. Default: none; ~/.ssh/config counts as ever."""
    directory: str
    """Absolute path of a directory on the files that all machines share. Jobs are in `jobs` below it."""
    setup: Sequence[str]
    """Lines of bash before every job, for instance `module load openmpi`."""
    image: str
    """What jobs run in that name no image: a key of `images`, a path or a URI. Default: no container."""
    images: Mapping[str, str]
    """Images of Apptainer by name: paths of .sif files, or URIs such as docker://HOST/NAME@sha256:..."""


@dataclass(frozen=True)
class SshTarget:
    """On-prem servers that run jobs; for the fields see `OnpremServersOutput`."""

    machine: SshConnection
    directory: str
    setup: Sequence[str] = ()
    image: str | None = None
    images: Mapping[str, str] = field(default_factory=dict)


def ssh_target(values: Mapping[str, Any], where: str) -> SshTarget:
    """where: the key that `values` is at, for messages. Errors: UserError."""
    directory = str(values.get("directory") or "").rstrip("/")
    if not directory:
        raise UserError(f"{where}.directory: is missing; name a directory on the files that all machines share")
    if not _DIRECTORY.fullmatch(directory):
        raise UserError(
            f"{where}.directory={format_value(directory)}: use an absolute path of letters, digits and any of ._/@+-"
        )
    host = values.get("login")
    if host is not None and not _HOST.fullmatch(str(host)):
        raise UserError(
            f"{where}.login={format_value(host)}: is not a host name; use HOST, USER@HOST or a name of ~/.ssh/config"
        )
    images = values.get("images") or {}
    if not isinstance(images, Mapping):
        raise UserError(f"{where}.images={format_value(images)}: must be a mapping; write NAME: /path/of/NAME.sif")
    return SshTarget(
        machine=SshConnection(None if host is None else str(host), parse_ssh_options(values, where)),
        directory=directory,
        setup=string_list(values, "setup", where),
        image=str(values["image"]) if values.get("image") else None,
        images={str(name): str(image) for name, image in images.items()},
    )


def parse_ssh_options(values: Mapping[str, Any], where: str) -> list[str]:
    try:
        return shlex.split(str(values.get("ssh") or ""))
    except ValueError as error:
        raise UserError(
            f"{where}.ssh={format_value(values['ssh'])}: {error}; write arguments as a shell takes them"
        ) from error


def string_list(values: Mapping[str, Any], key: str, where: str) -> list[str]:
    """A list of texts. Errors: UserError."""
    found = values.get(key) or []
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise UserError(f"{where}.{key}={format_value(found)}: must be a list; write [{format_value(found)}]")
    return [str(each) for each in found]


def whole_number(values: Mapping[str, Any], key: str, where: str, least: int = 0) -> int | None:
    """A whole number; None if not given. Errors: UserError."""
    found = values.get(key)
    if found is None:
        return None
    # Pulumi's outputs have no whole numbers: 2 comes back as 2.0.
    if isinstance(found, bool) or not isinstance(found, int | float) or found != int(found) or found < least:
        raise UserError(f"{where}.{key}={format_value(found)}: use a whole number, {least} or more")
    return int(found)
