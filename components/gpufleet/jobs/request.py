"""A job as a researcher asks for it, whatever runs it."""

import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import yaml

from gpufleet.errors import UserError
from gpufleet.rules.arguments import judge_arguments
from gpufleet.rules.wording import one_line


class JobRequest(TypedDict):
    """Keys of a job's YAML file; each is an option of `gpufleet jobs submit` too."""

    workers: int
    """Pods with GPUs, each on a node of its own or sharing one, all in one zone."""
    command: Sequence[str]
    """What every rank runs."""
    name: NotRequired[str]
    """Default: made from the command and the time."""
    gpus: NotRequired[int]
    """GPUs of each worker. Default: all of a node."""
    pool: NotRequired[str]
    """Default: the environment's only one."""
    image: NotRequired[str]
    """NAME[:TAG] of the environment's registry, or a full name. A NAME alone is the image that `gpufleet images build`
    pushed last; so is the default, for the only repository."""
    env: NotRequired[Mapping[str, str]]
    queue: NotRequired[str]
    """Default: the environment's."""
    retries: NotRequired[int]
    """Default 0."""
    grace_seconds: NotRequired[int]
    """Default: what AWS's or Azure's Spot notice leaves."""
    time_limit_minutes: NotRequired[int]
    """Default: none."""
    shared_memory_gib: NotRequired[int]
    image_pull_secret: NotRequired[str]
    """Default: the environment's."""
    volume_claim: NotRequired[str]
    """Default: the environment's shared volume."""
    after: NotRequired[str]
    """Submit it when this job has succeeded."""


def read_request(file: Path) -> dict[str, object]:
    """A job's YAML file. Errors: UserError for a file that cannot be read or is no mapping."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; give a job's YAML file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: is no YAML: {one_line(' '.join(str(error).split()))}") from error
    if not isinstance(content, dict):
        raise UserError(f"{file}: is no mapping; write `workers: 2` and `command: [python3, train.py]`")
    if isinstance(content.get("command"), str):
        content["command"] = _words(content["command"], file)
    return content


def checked(request: Mapping[str, object], where: str) -> JobRequest:
    """Errors: UserError with a line for every unknown, missing or wrongly typed key."""
    lines = [each.line(where) for each in judge_arguments(request, JobRequest) if each.refuses]
    if not lines and not request["command"]:
        lines = [f"{where}: command=[]: there is nothing to run; end the line with -- python3 train.py"]
    if lines:
        raise UserError("\n".join(lines))
    return cast("JobRequest", dict(request))


def name_for(command: Sequence[str], now: datetime) -> str:
    """A name that says what runs, and when it was submitted: train-1121-150405-3f2a."""
    program = next((word for word in command if word.endswith((".py", ".sh"))), command[0] if command else "job")
    stem = re.sub(r"[^a-z0-9]+", "-", Path(program).stem.lower()).strip("-")
    # A DNS label begins with a letter, and the operator puts -worker-511 behind it.
    stem = stem if stem[:1].isalpha() else f"job-{stem}".rstrip("-")
    return f"{stem[:24].rstrip('-')}-{now:%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _words(command: str, file: Path) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UserError(f"{file}: command={command}: {error}; write a list: [python3, train.py]") from error
