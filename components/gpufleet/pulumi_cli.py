"""Runs the Pulumi command line and parses its output. Why not pulumi.automation: docs/decisions/0024."""

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

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError

_SUFFICES = (3, 253)
"""Engine that runs programs with any newer SDK: the SDK asks it what it supports. An older SDK is content with less."""


class PulumiCliError(UserError):
    """The engine could not be started, or a command failed; the text is the one line for the user."""


def run_until_exit(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None = None,
    *,
    stdin: int | None = None,
    output: IO[str] | None = None,
) -> int:
    """Run a command and return its exit code, 128 + n where signal n ended it.

    The terminal's Ctrl-C also reaches the command, which handles it: an engine then waits for the cloud's operations in
    progress and writes its state. Killing it here would lose both.
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

    project: the directory with Pulumi.yaml. environment: variables of the engine's process; default: ours.
    output: where the engine writes its output; None: the terminal. parallel: number of concurrent resource operations,
    fixed so that order and time do not depend on the number of processors (Pulumi's default is four times that number).
    """

    project: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    output: IO[str] | None = None
    parallel: int = 64

    def run(self, *arguments: str) -> int:
        """Run a command of the engine, with its output streamed, and return its exit code."""
        return run_until_exit(
            [self.program, *arguments], self.environment, self.project, stdin=subprocess.DEVNULL, output=self.output
        )

    def output_of(self, *arguments: str) -> str:
        """Standard output of a command of the engine. Errors: PulumiCliError with the engine's message."""
        done = self._capture(*arguments)
        if done.returncode != 0:
            message = " ".join((done.stderr or done.stdout).split()).removeprefix("error: ")
            raise PulumiCliError(f"pulumi {arguments[0]}: {message or f'failed with exit code {done.returncode}'}")
        return done.stdout

    def _capture(self, *arguments: str) -> subprocess.CompletedProcess[str]:
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
        """Path of the engine, from PATH of its environment.

        Errors: PulumiCliError when there is none, when it may be too old for the SDK, or when there is no project to
        run it in.
        """
        if not self.project.is_dir():
            raise PulumiCliError(f"{self.project}: is not a directory; give that of a Pulumi project with --program")
        needed = min(_SUFFICES, tuple(map(int, version("pulumi").split(".")[:2])))
        least = ".".join(map(str, needed))
        path = shutil.which("pulumi", path=self.environment.get("PATH"))
        if path is None:
            raise PulumiCliError(f"pulumi: not found on PATH; run `make setup`, or install Pulumi {least} or newer")
        try:
            done = subprocess.run([path, "version"], env=self.environment, capture_output=True, text=True, check=False)
        except OSError as error:
            raise PulumiCliError(f"{path}: cannot be run: {error.strerror}; install Pulumi {least} or newer") from error
        numbers = re.fullmatch(r"v?(\d+)\.(\d+)\..*", done.stdout.strip())
        if numbers is None:
            raise PulumiCliError(f"{path}: `pulumi version` printed no version; install Pulumi {least} or newer")
        if tuple(map(int, numbers.groups())) < needed:
            raise PulumiCliError(f"{path}: is Pulumi {done.stdout.strip()}; install {least} or newer")
        return path

    def init(self, stack: str) -> None:
        """Create an empty stack in the backend."""
        self.output_of("stack", "init", stack, "--non-interactive", "--no-select")

    def up(self, stack: str, *arguments: str) -> int:
        return self.run_operation("up", stack, *arguments)

    def destroy(self, stack: str, *arguments: str) -> int:
        return self.run_operation("destroy", stack, *arguments)

    def run_operation(self, operation: str, stack: str, *arguments: str) -> int:
        """Run an operation that changes a stack, without a confirmation prompt, and return its exit code."""
        common = ("--stack", stack, "--yes", "--skip-preview", "--non-interactive", "--suppress-permalink=true")
        return self.run(operation, *common, "--parallel", str(self.parallel), *arguments)

    def state(self, stack: str) -> list[dict[str, Any]]:
        """The resources of the stack's state, as the engine stores them; secrets stay encrypted."""
        return cast("list[dict[str, Any]]", self._deployment(stack).get("resources") or [])

    def pending_operations(self, stack: str) -> int:
        """The number of operations that an engine began and did not end."""
        return len(self._deployment(stack).get("pending_operations") or [])

    def _deployment(self, stack: str) -> dict[str, Any]:
        exported = parse_json(self.output_of("stack", "export", "--stack", stack), "pulumi stack export")
        return cast("dict[str, Any]", exported["deployment"])

    def config(self, stack: str) -> dict[str, Any]:
        """The stack's configuration as the program reads it; secrets are None."""
        values = parse_json(self.output_of("config", "--json", "--stack", stack), "pulumi config")
        return {key: each.get("objectValue", each.get("value")) for key, each in values.items()}

    def preview(self, stack: str) -> list[dict[str, Any]]:
        """The steps of an `up`: {"op", "urn", "newState": {"type", "inputs", "parent", ...}}.

        Errors: PulumiCliError with the errors of the program or the provider when the preview fails.
        """
        return cast("list[dict[str, Any]]", self.preview_json(stack)["steps"])

    def preview_json(self, stack: str, *arguments: str) -> dict[str, Any]:
        """The output of `pulumi preview --json`: {"config", "steps", ...}.

        Errors: PulumiCliError with the errors of the program or the provider, line by line, when the preview fails.
        """
        done = self._capture("preview", "--json", "--stack", stack, *arguments)
        if done.returncode == 0:
            return parse_json(done.stdout, "pulumi preview", shape=dict[str, Any])
        try:
            diagnostics = parse_json(done.stdout, "pulumi preview")["diagnostics"]
            messages = [each["message"] for each in diagnostics if each["severity"] == "error"]
        except (ValueError, KeyError):
            messages = [done.stderr]
        lines = [" ".join(line.split()) for message in messages for line in message.splitlines()]
        raise PulumiCliError("pulumi preview: " + "\n".join(line for line in lines if line))

    def outputs(self, stack: str, *, secrets: bool = False) -> dict[str, Any]:
        """The stack's outputs; secrets are the text [secret] unless `secrets` is set."""
        options = ("--show-secrets",) if secrets else ()
        said = self.output_of("stack", "output", "--json", "--stack", stack, *options)
        return parse_json(said, "pulumi stack output", shape=dict[str, Any])
