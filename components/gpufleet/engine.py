"""The Pulumi engine, run as its users run it: by its command line."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from gpufleet.errors import UserError


class EngineError(UserError):
    """The engine could not be run, or ended badly; the text is the one line for the user."""


@dataclass(frozen=True)
class Engine:
    """Runs `pulumi` for one project.

    project: the directory with Pulumi.yaml. environment: variables of the engine's process, our own by default.
    output: where the engine's output goes, the terminal when None. parallel: resource operations at once; fixed, so
    that order and time do not depend on the number of processors (Pulumi's own default is four times that).
    """

    project: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    output: IO[str] | None = None
    parallel: int = 64

    def run(self, *arguments: str) -> int:
        """Run one command of the engine to its end and return its exit code."""
        return subprocess.run(
            [self.program(), *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            check=False,
        ).returncode

    def answer(self, *arguments: str) -> str:
        """What a command of the engine prints. Errors: EngineError with the engine's own words when it fails."""
        done = subprocess.run(
            [self.program(), *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            words = done.stderr or done.stdout
            raise EngineError(" ".join(words.split()) or f"pulumi {arguments[0]} ended with {done.returncode}")
        return done.stdout

    def program(self) -> str:
        """The engine's path, by PATH of its environment. Errors: EngineError when there is none."""
        found = shutil.which("pulumi", path=self.environment.get("PATH"))
        if found is None:
            raise EngineError("pulumi: not found on PATH; run `make setup`, or install Pulumi 3.253 or newer")
        return found

    def ensure_stack(self, stack: str) -> None:
        """Make the stack in the backend when it is not there yet."""
        listed = json.loads(self.answer("stack", "ls", "--json"))
        if not any(entry["name"].split("/")[-1] == stack for entry in listed):
            self.answer("stack", "init", stack, "--non-interactive", "--no-select")

    def up(self, stack: str, *arguments: str) -> int:
        return self.operate("up", stack, *arguments)

    def destroy(self, stack: str, *arguments: str) -> int:
        return self.operate("destroy", stack, *arguments)

    def operate(self, operation: str, stack: str, *arguments: str) -> int:
        """Run an operation that changes a stack, without asking, and return its exit code."""
        common = ("--stack", stack, "--yes", "--skip-preview", "--non-interactive", "--suppress-permalink=true")
        return self.run(operation, *common, "--parallel", str(self.parallel), *arguments)

    def state(self, stack: str) -> list[dict[str, Any]]:
        """The resources of the stack's state, as the engine keeps them; secrets stay encrypted."""
        exported = json.loads(self.answer("stack", "export", "--stack", stack))
        return cast("list[dict[str, Any]]", exported["deployment"].get("resources") or [])

    def preview(self, stack: str) -> list[dict[str, Any]]:
        """The steps that an `up` would take: {"op", "urn", "newState": {"type", "inputs", "parent", ...}}."""
        return cast("list[dict[str, Any]]", json.loads(self.answer("preview", "--json", "--stack", stack))["steps"])

    def outputs(self, stack: str) -> dict[str, Any]:
        """The stack's outputs; secrets come as the text [secret]."""
        return cast("dict[str, Any]", json.loads(self.answer("stack", "output", "--json", "--stack", stack)))
