"""Build a program of a Go module that is pinned in this repository, as a main module with `tool` lines.

Nothing is fetched but modules, by the user's own proxy settings, checked against the committed go.sum. What Go compiled
stays in Go's build cache, so an interrupted build goes on where it was.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.progress import Say, run_quietly


class BuildFailed(Exception):
    """It cannot be built, and why, without a full stop."""


def required(module: Path, pattern: str) -> str:
    """The first group of `pattern` in the go.mod of the directory `module`. Raises BuildFailed."""
    found = re.search(pattern, (module / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise BuildFailed(f"{module / 'go.mod'}: no line matches {pattern}; take the file from git again")
    return found.group(1)


def go_version(module: Path) -> str:
    """The Go release that a module asks for."""
    return required(module, r"^go ([\d.]+)")


def go_program() -> str:
    """`go` on PATH. Raises BuildFailed."""
    go = shutil.which("go")
    if go is None:
        raise BuildFailed("it cannot be built: no `go` on PATH")
    return go


def build(
    module: Path,
    package: str,
    target: Path,
    say: Say,
    *,
    doing: str,
    tags: Sequence[str] = (),
    variables: Sequence[str] = (),
    go_mod: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Build `package` into the file `target`.

    module: directory with go.mod and go.sum. variables: what the linker sets, as `import/path.Name=value`. go_mod: a
    file to read instead of the module's, with a go.sum beside it. environment: further variables, for a program with
    parts in C. doing: what progress lines begin with. Raises BuildFailed.
    """
    flags = " ".join(["-s", "-w", *(f"-X {variable}" for variable in variables)])
    command = [go_program(), "build", "-v", "-mod=readonly", "-trimpath", f"-ldflags={flags}"]
    command.append(f"-tags={','.join(tags)}")
    if go_mod:
        command.append(f"-modfile={go_mod}")
    command += ["-o", str(target), package]
    variables_of_build = {**_environment(), **(environment or {})}
    status, last = run_quietly(command, doing, "packages", say, cwd=module, env=variables_of_build)
    if status:
        raise BuildFailed(f"it cannot be built: `go build` said: {last}")


def source(module: Path, path: str) -> Path:
    """The directory, in Go's module cache, of the module `path` in the version that `module` requires.

    It is fetched where it is not there yet. Raises BuildFailed.
    """
    found = _answer(["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", path], module)
    if not found:
        fetched = _answer(["mod", "download", "-json", path], module)
        found = str(json.loads(fetched).get("Dir", "")) if fetched.startswith("{") else ""
    if not found:
        raise BuildFailed(f"it cannot be built: Go does not get the source of {path}")
    return Path(found)


def _answer(words: list[str], module: Path) -> str:
    command = [go_program(), *words]
    return subprocess.run(
        command, cwd=module, env=_environment(), capture_output=True, text=True, check=False
    ).stdout.strip()


def _environment() -> dict[str, str]:
    return {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
