"""The stacks of any backend, through the engine; it takes seconds, as the engine starts once for each."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from gpufleet.errors import UserError
from gpufleet.fleet.stack_state import StackState, state_from_deployment
from gpufleet.pulumi_cli import PulumiCli, PulumiCliError

_AT_ONCE = 4
"""Engines at once: each waits for the network most of the time."""


def url_of_backend(engine: PulumiCli) -> str:
    """The URL of the backend that the engine is logged in to. Errors: PulumiCliError."""
    return str(json.loads(engine.output_of("whoami", "--json")).get("url") or "")


def stacks_of_engine(engine: PulumiCli) -> list[StackState]:
    """Every stack that the engine may see, of all projects. Errors: UserError when it lists none of them."""
    try:
        listed = json.loads(engine.output_of("stack", "ls", "--all", "--json"))
    except ValueError as error:
        raise UserError("pulumi stack ls: did not answer in JSON; update the engine") from error
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda entry: _stack(engine, entry), listed)
        return [replace(each, full_name=str(entry["name"])) for each, entry in zip(found, listed, strict=True)]


def stack_of_engine(engine: PulumiCli, full_name: str) -> StackState:
    """One stack by its full_name name, as it is now. One that cannot be read is told by its fault."""
    return replace(_stack(engine, {"name": full_name}), full_name=full_name)


def _stack(engine: PulumiCli, entry: Mapping[str, Any]) -> StackState:
    """A stack of the list. Its own fault does not hide the others."""
    full_name = str(entry["name"])
    project, _, name = full_name.rpartition("/")
    project = project.rpartition("/")[2]
    updating = bool(entry.get("updateInProgress"))
    if entry.get("resourceCount") == 0:
        return StackState(name, project, updating=updating)
    try:
        deployment = json.loads(engine.output_of("stack", "export", "--stack", full_name)).get("deployment")
        return state_from_deployment(name, project or _project(deployment), deployment, {}, updating)
    except (PulumiCliError, ValueError) as error:
        return StackState(name, project, fault=f"{full_name}: its state cannot be read: {error}")


def _project(deployment: object) -> str:
    """The project that the URNs of a state name: urn:pulumi:<stack>::<project>::<type>::<name>."""
    resources = deployment.get("resources") if isinstance(deployment, Mapping) else None
    return str(resources[0]["urn"]).split("::")[1] if resources else ""
