"""What the stack's output or a file says of own servers: the keys that Slurm and plain hosts share."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from gpufleet.errors import UserError
from gpufleet.jobs.ssh.connection import SshConnection
from gpufleet.rules.messages import shown

_DIRECTORY = re.compile(r"/[\w./@+-]*", re.ASCII)
"""A path that neither a shell nor sbatch reads anything else in."""
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
    """Own servers, as their jobs see them; `OnpremServersOutput` says what the fields are."""

    machine: SshConnection
    directory: str
    setup: Sequence[str] = ()
    image: str | None = None
    images: Mapping[str, str] = field(default_factory=dict)


def place_of(told: Mapping[str, Any], where: str) -> SshTarget:
    """where: the key that `told` is at, for messages. Errors: UserError."""
    directory = str(told.get("directory") or "").rstrip("/")
    if not directory:
        raise UserError(f"{where}.directory: is missing; name a directory on the files that all machines share")
    if not _DIRECTORY.fullmatch(directory):
        raise UserError(
            f"{where}.directory={shown(directory)}: use an absolute path of letters, digits and any of ._/@+-"
        )
    host = told.get("login")
    if host is not None and not _HOST.fullmatch(str(host)):
        raise UserError(f"{where}.login={shown(host)}: is no machine; use HOST, USER@HOST or a name of ~/.ssh/config")
    images = told.get("images") or {}
    if not isinstance(images, Mapping):
        raise UserError(f"{where}.images={shown(images)}: is no mapping; write NAME: /path/of/NAME.sif")
    return SshTarget(
        machine=SshConnection(None if host is None else str(host), ssh_words(told, where)),
        directory=directory,
        setup=texts(told, "setup", where),
        image=str(told["image"]) if told.get("image") else None,
        images={str(name): str(image) for name, image in images.items()},
    )


def ssh_words(told: Mapping[str, Any], where: str) -> list[str]:
    try:
        return shlex.split(str(told.get("ssh") or ""))
    except ValueError as error:
        raise UserError(f"{where}.ssh={shown(told['ssh'])}: {error}; write arguments as a shell takes them") from error


def texts(told: Mapping[str, Any], key: str, where: str) -> list[str]:
    """A list of texts. Errors: UserError."""
    found = told.get(key) or []
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise UserError(f"{where}.{key}={shown(found)}: is no list; write [{shown(found)}]")
    return [str(each) for each in found]


def whole(told: Mapping[str, Any], key: str, where: str, least: int = 0) -> int | None:
    """A whole number; None where it is not said. Errors: UserError."""
    found = told.get(key)
    if found is None:
        return None
    # Pulumi's outputs have no whole numbers: 2 comes back as 2.0.
    if isinstance(found, bool) or not isinstance(found, int | float) or found != int(found) or found < least:
        raise UserError(f"{where}.{key}={shown(found)}: use a whole number, {least} or more")
    return int(found)
