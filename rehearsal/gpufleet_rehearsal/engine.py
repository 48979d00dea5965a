"""The real Pulumi engine, run on a rehearsal's home."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from gpufleet_rehearsal.home import Home

# Fixed, so that a rehearsal's order and time do not depend on the number of processors (default: 4 x cores).
PARALLEL = 64


class EngineError(Exception):
    """The engine could not be run; the text is the one line for the user."""


@dataclass(frozen=True)
class Engine:
    """Runs `pulumi` in the mirror of the project. Output goes to `output`, the user's terminal when None."""

    home: Home
    output: IO[str] | None = None

    def run(self, *arguments: str) -> int:
        """Run one command of the engine to its end and return its exit code."""
        return subprocess.run(
            [self.program(), *arguments],
            cwd=self.home.mirror,
            env=self.home.environment(),
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            check=False,
        ).returncode

    def answer(self, *arguments: str) -> str:
        """What a command of the engine prints. Errors: EngineError with the engine's own words when it fails."""
        done = subprocess.run(
            [self.program(), *arguments],
            cwd=self.home.mirror,
            env=self.home.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise EngineError(" ".join(done.stderr.split()) or f"pulumi {arguments[0]} ended with {done.returncode}")
        return done.stdout

    def program(self) -> str:
        """The engine's path: beside the running Python first, then on PATH.

        Errors: EngineError when there is none.
        """
        found = shutil.which("pulumi", path=self.home.environment()["PATH"])
        if found is None:
            raise EngineError(
                "pulumi: no engine beside this Python nor on PATH; run `make setup`, or install Pulumi 3.253 or newer"
            )
        return found

    def has_stack(self, stack: str) -> bool:
        listed = json.loads(self.answer("stack", "ls", "--json"))
        return any(entry["name"].split("/")[-1] == stack for entry in listed)

    def ensure_stack(self, stack: str) -> None:
        """Make the stack in the rehearsal's own backend when it is not there yet."""
        if not self.has_stack(stack):
            self.answer("stack", "init", stack, "--non-interactive", "--no-select")

    def up(self, stack: str, *arguments: str) -> int:
        return self._operate("up", stack, "--yes", "--skip-preview", *arguments)

    def destroy(self, stack: str, *arguments: str) -> int:
        return self._operate("destroy", stack, "--yes", "--skip-preview", *arguments)

    def _operate(self, operation: str, stack: str, *arguments: str) -> int:
        common = ("--stack", stack, "--non-interactive", "--suppress-permalink=true", "--parallel", str(PARALLEL))
        return self.run(operation, *common, *arguments)

    def export(self, stack: str) -> dict[str, Any]:
        """The stack's state as the engine keeps it: {"version": ..., "deployment": {"resources": [...]}}."""
        return cast("dict[str, Any]", json.loads(self.answer("stack", "export", "--stack", stack)))

    def outputs(self, stack: str) -> dict[str, Any]:
        """The stack's outputs; secrets come as the text [secret]."""
        return cast("dict[str, Any]", json.loads(self.answer("stack", "output", "--json", "--stack", stack)))


def state_file(home: Home, project: str, stack: str) -> Path:
    """Where the file backend keeps a stack's state."""
    return home.root / "backend" / ".pulumi" / "stacks" / project / f"{stack}.json"
