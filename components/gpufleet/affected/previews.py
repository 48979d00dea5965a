"""Run previews with the project's policy packs, in both output formats."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpufleet.affected.detect import POLICIES
from gpufleet.errors import UserError
from gpufleet.policies.configuration import read_policies
from gpufleet.pulumi_cli import PulumiCli
from gpufleet.report.load_previews import read_preview
from gpufleet.report.preview import Diagnostic, Preview

_SECRETS = "set PULUMI_CONFIG_PASSPHRASE, or PULUMI_CONFIG_PASSPHRASE_FILE, to the one that the stack was made with"
_FIXES = {
    "no stack named": "make it with `pulumi stack init`, or preview with --simulated",
    "incorrect passphrase": _SECRETS,
    "passphrase must be set": _SECRETS,
}
"""Words of the engine -> what to do."""
_BACKEND = "see that PULUMI_BACKEND_URL is right, and that its credentials are there and may read"


class UnreachableStack(UserError):
    """A stack cannot be reached, so nothing was previewed; the text is one line for the user."""


@dataclass(frozen=True)
class PolicyPacks:
    """Policy packs, and the file of each one's configuration for an environment, None where there is none."""

    folders: Sequence[Path]
    configurations: Mapping[Path, Path | None]

    @classmethod
    def of(cls, project: Path, environment: str) -> "PolicyPacks":
        """The packs in `policies/`, and `policies/config/<environment>/<pack>.json`."""
        found = sorted(file.parent for file in (project / "policies").glob("*/PulumiPolicy.yaml"))
        files = {each: project / POLICIES / environment / f"{each.name}.json" for each in found}
        return cls(found, {each: file if file.is_file() else None for each, file in files.items()})

    def words(self, folder: Path) -> Iterator[str]:
        """For the engine's command line, which pairs packs and configurations by position. folder: for an empty one."""
        empty = folder / "no-configuration.json"
        empty.write_text("{}", encoding="utf-8")
        for pack in self.folders:
            yield from ("--policy-pack", str(pack))
        for pack in self.folders if any(self.configurations.values()) else ():
            yield from ("--policy-pack-config", str(self.configurations[pack] or empty))

    def values(self) -> dict[str, Mapping[str, object]]:
        """Policy -> its configuration. Errors: UserError."""
        found: dict[str, Mapping[str, object]] = {}
        for file in self.configurations.values():
            found |= read_policies(file) if file else {}
        return found


def run_previews(engine: PulumiCli, name: tuple[str, str], packs: PolicyPacks, folder: Path) -> list[Preview]:
    """Preview a stack, and read the plain JSON and the event log, which has the policy packs' findings.

    name: project and stack. folder: of this preview alone, and to be thrown away: the log holds secrets in plain text.
    A failure is part of the previews, for the report. Errors: PulumiCliError without an engine, UnreachableStack.
    """
    plain, log = folder / "plain.json", folder / "log.json"
    words = ("preview", "--json", "--show-sames", "--non-interactive", "--stack", name[1], "--event-log", str(log))
    with plain.open("wb") as output:
        done = subprocess.run(
            [engine.program, *words, "--parallel", str(engine.parallel), *packs.words(folder)],
            cwd=engine.project,
            env=dict(engine.environment) | {"PULUMI_DEBUG_COMMANDS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    found = [each for file in (plain, log) if (each := _read(file, name)) is not None]
    if done.returncode and not any(each.errors or each.violations for each in found):
        raise UnreachableStack(_why(done.stderr) or f"pulumi preview ended with {done.returncode}")
    return found


def _why(said: str) -> str:
    """The engine's last error on one line, and the fix, without a password that a backend's URL may contain."""
    words = re.sub(r"(?<=://)[^/@\s]+@", "", " ".join(said.rpartition("error: ")[2].split()))
    fix = next((fix for known, fix in _FIXES.items() if known in words), _BACKEND)
    return f"{words}; {fix}" if words else ""


def failed_preview(name: tuple[str, str], said: str) -> Preview:
    """A preview that could not be run, with the reason."""
    return Preview("", name, diagnostics=[Diagnostic("", "error", said)], ended=False)


def _read(file: Path, name: tuple[str, str]) -> Preview | None:
    try:
        preview = read_preview(file)
    except UserError:
        return None
    preview.fallback_name = name
    return preview


def with_python_path(engine: PulumiCli, folders: Sequence[Path]) -> PulumiCli:
    """The engine, with Python packages of these folders before those that are installed."""
    there = [str(each) for each in folders if each.is_dir()]
    more = engine.environment.get("PYTHONPATH")
    path = os.pathsep.join([*there, *([more] if more else [])])
    return replace(engine, environment={**engine.environment, "PYTHONPATH": path}) if path else engine
