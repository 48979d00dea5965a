"""The stacks of any backend, through the engine; it takes seconds, as the engine starts once for each."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.fleet.stack_state import StackState, or_fault, state_from_deployment
from gpufleet.pulumi_cli import PulumiCli

_AT_ONCE = 4
"""Engines at once: each waits for the network most of the time."""


def url_of_backend(engine: PulumiCli) -> str:
    """The URL of the backend that the engine is logged in to. Errors: PulumiCliError."""
    return str(parse_json(engine.output_of("whoami", "--json"), "pulumi whoami").get("url") or "")


def stacks_of_engine(engine: PulumiCli) -> list[StackState]:
    """Every stack that the engine may see, of all projects. Errors: UserError when it lists none of them."""
    try:
        listed = parse_json(
            engine.output_of("stack", "ls", "--all", "--json"), "pulumi stack ls", shape=list[dict[str, Any]]
        )
    except ValueError as error:
        raise UserError("pulumi stack ls: did not answer in JSON; update the engine") from error
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda entry: _stack(engine, entry), listed)
        return [replace(each, full_name=str(entry["name"])) for each, entry in zip(found, listed, strict=True)]


def stack_of_engine(engine: PulumiCli, full_name: str) -> StackState:
    """One stack by its full_name name, as it is now. One that cannot be read has its fault instead."""
    return replace(_stack(engine, {"name": full_name}), full_name=full_name)


def _stack(engine: PulumiCli, entry: Mapping[str, Any]) -> StackState:
    """A stack of the list. Its own fault does not hide the others."""
    full_name = str(entry["name"])
    project, _, name = full_name.rpartition("/")
    project = project.rpartition("/")[2]
    updating = bool(entry.get("updateInProgress"))
    if entry.get("resourceCount") == 0:
        return StackState(name, project, updating=updating)

    def read() -> StackState:
        exported = parse_json(engine.output_of("stack", "export", "--stack", full_name), "", shape=dict[str, Any])
        return state_from_deployment(name, project, exported.get("deployment"), {}, updating)

    return or_fault(
        read, lambda reason: StackState(name, project, fault=f"{full_name}: its state cannot be read: {reason}")
    )
