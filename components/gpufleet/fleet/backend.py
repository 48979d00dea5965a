"""The Pulumi backend and its stacks."""

import os
from dataclasses import replace
from pathlib import Path

from gpufleet.fleet.engine_backend import stacks_of_engine, url_of_backend
from gpufleet.fleet.file_backend import is_file_backend, stacks_of_files
from gpufleet.fleet.stack_state import StackState
from gpufleet.pulumi_cli import PulumiCli

BACKEND = "PULUMI_BACKEND_URL"


def stacks_of(url: str | None, program: Path) -> tuple[str, list[StackState]]:
    """The URL of a backend, as it may be shown, and its stacks.

    url: None for the one that `pulumi` uses in the folder `program`: by its variable, else as the engine says.
    Errors: UserError when the backend cannot be read at all; a stack that cannot be read has its own fault.
    """
    found, engine = backend_of(url, program)
    # A query may name a profile or an endpoint, and with some services a key.
    shown = found.partition("?")[0]
    return shown, stacks_of_files(found) if is_file_backend(found) else stacks_of_engine(engine)


def backend_of(url: str | None, program: Path) -> tuple[str, PulumiCli]:
    """The whole URL of a backend, and an engine that uses it from any folder. Errors: UserError."""
    environment = dict(os.environ) if url is None else {**os.environ, BACKEND: url}
    engine = PulumiCli(program.resolve(), environment)
    found = environment.get(BACKEND) or url_of_backend(engine)
    # Of a service the engine tells the address for people; it is logged in to it everywhere.
    if not found.startswith(("http://", "https://")):
        engine = replace(engine, environment={**environment, BACKEND: found})
    return found, engine
