"""Which commit an environment was last deployed from, by the history that the engine keeps beside the stack's state.

The engine writes the commit of the checkout into each update's record, in every backend and no matter who deploys: a
workflow, or somebody by hand. Reading it needs no passphrase. Why not a record of the code host: docs/decisions/0028.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli, PulumiCliError

_NO_STACK = "no stack named"
_PARTIAL = ("pulumi.flag.target", "pulumi.flag.exclude", "pulumi.flag.target-dependents")
"""Flags of an update that does not deploy all of the program."""


@dataclass(frozen=True)
class Deployment:
    """An update from a commit. complete: it succeeded, with all resources, from a checkout without other changes."""

    commit: str
    complete: bool


def last_deployment(engine: PulumiCli, stack: str) -> Deployment | None:
    """The newest update of a stack whose commit is known; None where there is none, or no such stack yet.

    Updates from outside of a repository, such as those of `gpufleet stop`, deploy no commit. Errors: UserError.
    """
    try:
        text = engine.output_of("stack", "history", "--json", "--page-size", "100", "--page", "1", "--stack", stack)
    except PulumiCliError as error:
        if _NO_STACK in str(error):
            return None
        raise
    try:
        return next((each for record in parse_json(text, stack) if (each := _deployment(record))), None)
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{stack}: pulumi stack history: not the history of a stack: {error}") from error


def _deployment(record: Mapping[str, Any]) -> Deployment | None:
    environment = record.get("environment") or {}
    commit = environment.get("git.head")
    if record["kind"] != "update" or not commit:
        return None
    whole = not any(flag in environment for flag in _PARTIAL)
    return Deployment(commit, record["result"] == "succeeded" and environment.get("git.dirty") == "false" and whole)
