"""The Pulumi engine, run as its users run it: by its command line."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, cast

from gpufleet.errors import UserError


class PulumiCliError(UserError):
    """The engine could not be run, or ended badly; the text is the one line for the user."""


def run_until_exit(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None = None,
    *,
    stdin: int | None = None,
    output: IO[str] | None = None,
) -> int:
    """Run a command and return its exit code, 128 + n where signal n ended it.

    The terminal's Ctrl-C reaches the command as well, and is its own business: an engine then still waits for what the
    cloud has begun and writes its state. Killing it here would lose both.
    """
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=stdin, stdout=output, stderr=output) as process:
        while True:
            try:
                status = process.wait()
            except KeyboardInterrupt:
                continue
            return status if status >= 0 else 128 - status


@dataclass(frozen=True)
class PulumiCli:
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
        return run_until_exit(
            [self.program, *arguments], self.environment, self.project, stdin=subprocess.DEVNULL, output=self.output
        )

    def answer(self, *arguments: str) -> str:
        """What a command of the engine prints. Errors: PulumiCliError with the engine's own words when it fails."""
        done = self._asked(*arguments)
        if done.returncode != 0:
            words = " ".join((done.stderr or done.stdout).split()).removeprefix("error: ")
            raise PulumiCliError(f"pulumi {arguments[0]}: {words or f'ended with {done.returncode}'}")
        return done.stdout

    def _asked(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @cached_property
    def program(self) -> str:
        """The engine's path, by PATH of its environment.

        Errors: PulumiCliError when there is none, or one that is older than the SDK, which it then does not understand.
        """
        least = ".".join(version("pulumi").split(".")[:2])
        found = shutil.which("pulumi", path=self.environment.get("PATH"))
        if found is None:
            raise PulumiCliError(f"pulumi: not found on PATH; run `make setup`, or install Pulumi {least} or newer")
        try:
            done = subprocess.run([found, "version"], env=self.environment, capture_output=True, text=True, check=False)
        except OSError as error:
            raise PulumiCliError(
                f"{found}: cannot be run: {error.strerror}; install Pulumi {least} or newer"
            ) from error
        numbers = re.fullmatch(r"v?(\d+)\.(\d+)\..*", done.stdout.strip())
        if numbers is None:
            raise PulumiCliError(f"{found}: does not tell its version; install Pulumi {least} or newer")
        if tuple(map(int, numbers.groups())) < tuple(map(int, least.split("."))):
            raise PulumiCliError(f"{found}: is Pulumi {done.stdout.strip()}; install {least} or newer")
        return found

    def init(self, stack: str) -> None:
        """Make the stack in the backend, with nothing in it."""
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

    def config(self, stack: str) -> dict[str, Any]:
        """The stack's configuration as the program would get it, but for secrets, which have no value here."""
        told = json.loads(self.answer("config", "--json", "--stack", stack))
        return {key: each.get("objectValue", each.get("value")) for key, each in told.items()}

    def preview(self, stack: str) -> list[dict[str, Any]]:
        """The steps that an `up` would take: {"op", "urn", "newState": {"type", "inputs", "parent", ...}}.

        Errors: PulumiCliError with what the program or the provider said, when the preview fails.
        """
        return cast("list[dict[str, Any]]", self.previewed(stack)["steps"])

    def previewed(self, stack: str, *arguments: str) -> dict[str, Any]:
        """What `pulumi preview --json` says: {"config", "steps", ...}.

        Errors: PulumiCliError with what the program or the provider said, line by line, when the preview fails.
        """
        done = self._asked("preview", "--json", "--stack", stack, *arguments)
        if done.returncode == 0:
            return cast("dict[str, Any]", json.loads(done.stdout))
        try:
            said = [d["message"] for d in json.loads(done.stdout)["diagnostics"] if d["severity"] == "error"]
        except (ValueError, KeyError):
            said = [done.stderr]
        lines = [" ".join(line.split()) for message in said for line in message.splitlines()]
        raise PulumiCliError("pulumi preview: " + "\n".join(line for line in lines if line))

    def outputs(self, stack: str, *, secrets: bool = False) -> dict[str, Any]:
        """The stack's outputs; secrets come as the text [secret] unless they are asked for."""
        shown = ("--show-secrets",) if secrets else ()
        return cast("dict[str, Any]", json.loads(self.answer("stack", "output", "--json", "--stack", stack, *shown)))
