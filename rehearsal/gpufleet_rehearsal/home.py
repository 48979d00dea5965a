"""A rehearsal's directory: the simulated cloud, the engine's own home and state, and a mirror of the program.

The user's project is never written to. The engine runs in a mirror of it: every entry is a link to the real one,
only the stack configuration files are copies, because the engine writes an encryption salt into them.
"""

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import yaml

from gpufleet.engine import Engine
from gpufleet.errors import UserError

# The real provider versions whose place the stand-ins take: those of the SDKs that gpufleet is locked to.
STAND_INS: Mapping[str, str] = {"aws": "7.51.1", "azure-native": "3.29.0", "kubernetes": "4.24.0"}
# Never the name of a real backend or passphrase: a rehearsal holds no secret of anybody's.
PASSPHRASE = "rehearsal"

_PLUGIN = """#!{python}
from gpufleet_rehearsal.plugin import main

main("{cloud}")
"""
_LAUNCHER = """#!{python}
from gpufleet_rehearsal.launch import main

main({project!r}, {root!r})
"""


class HomeError(UserError):
    """The rehearsal's directory or the program cannot be used; the text is the one line for the user."""


@dataclass(frozen=True)
class Home:
    """The directory of one project's rehearsal.

    project: the directory with Pulumi.yaml. root: where the rehearsal lives, `<project>/.rehearsal` by default.
    """

    project: Path
    root: Path

    @classmethod
    def of(cls, program: Path, root: Path | None = None) -> "Home":
        """The rehearsal of the Pulumi project that `program` lies in.

        Errors: HomeError when neither the directory nor one above it has a Pulumi.yaml.
        """
        start = program.resolve()
        for folder in (start, *start.parents):
            if (folder / "Pulumi.yaml").is_file():
                return cls(folder, (root or folder / ".rehearsal").resolve())
        raise HomeError(f"{program}: no Pulumi.yaml here or above; give a Pulumi project with --program DIR")

    @property
    def settings(self) -> Path:
        return self.root / "rehearsal.json"

    @property
    def database(self) -> Path:
        return self.root / "cloud.db"

    @property
    def mirror(self) -> Path:
        return self.root / "project"

    @property
    def launcher(self) -> Path:
        """The folder to put first on PATH, so that plain `pulumi` is the rehearsal's from any directory."""
        return self.root / "bin"

    @property
    def exists(self) -> bool:
        return self.database.exists()

    def prepare(self) -> None:
        """Make or refresh the directory; what the simulated cloud and the engine's state hold stays.

        Errors: HomeError when the disk is full or the directory is not writable.
        """
        try:
            for folder in (self.root, self.root / "backend", self.mirror, self.launcher):
                folder.mkdir(parents=True, exist_ok=True)
            (self.root / ".gitignore").write_text("*\n")
            self._install_stand_ins()
            text = _LAUNCHER.format(python=sys.executable, project=str(self.project), root=str(self.root))
            _write_program(self.launcher / "pulumi", text)
            self._mirror_project()
        except OSError as error:
            raise HomeError(f"{self.root}: {error.strerror or error}; give another place with --home DIR") from error

    def environment(self) -> dict[str, str]:
        """Environment variables in which plain `pulumi` talks to the rehearsal and to nothing else."""
        own = {
            "GPUFLEET_REHEARSAL": str(self.root),
            "PULUMI_HOME": str(self.root / "pulumi-home"),
            # Without metadata=skip the engine writes a second file beside the state, not atomically: killed at that
            # moment it cannot read its own state any more ("failed to load checkpoint: EOF").
            "PULUMI_BACKEND_URL": f"file://{self.root / 'backend'}?metadata=skip",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), *self._outer_path()]),
        }
        passphrase = {} if _has_passphrase() else {"PULUMI_CONFIG_PASSPHRASE": PASSPHRASE}
        # Real credentials have no business in a rehearsal: a program that finds none cannot reach a real cloud.
        inherited = {
            k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "ARM_", "AZURE_", "PULUMI_ACCESS"))
        }
        return inherited | own | passphrase

    def engine(self, output: IO[str] | None = None) -> Engine:
        """The real engine on this rehearsal. output: where its output goes, the terminal when None."""
        return Engine(self.mirror, self.environment(), output)

    def _outer_path(self) -> list[str]:
        """The caller's PATH without our own launcher: in a rehearsal's shell it would find itself as the engine."""
        entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
        return [entry for entry in entries if entry != str(self.launcher)]

    def stacks(self) -> list[str]:
        """Names of the environments that the project has a configuration file for, sorted."""
        return sorted(path.name[len("Pulumi.") : -len(".yaml")] for path in self._configurations())

    def account(self, environment: str) -> Path:
        """The file that lists what the simulated account holds before an environment comes up (account.py)."""
        return self._configuration_folder() / f"rehearsal.{environment}.yaml"

    def clear(self) -> None:
        """Forget this rehearsal: the simulated cloud and the engine's state."""
        shutil.rmtree(self.root)

    def _install_stand_ins(self) -> None:
        for cloud, version in STAND_INS.items():
            folder = self.root / "pulumi-home" / "plugins" / f"resource-{cloud}-v{version}"
            folder.mkdir(parents=True, exist_ok=True)
            _write_program(folder / f"pulumi-resource-{cloud}", _PLUGIN.format(python=sys.executable, cloud=cloud))

    def _project_file(self) -> dict[str, object]:
        try:
            document = yaml.safe_load((self.project / "Pulumi.yaml").read_text())
        except yaml.YAMLError as error:
            raise HomeError(
                f"{self.project / 'Pulumi.yaml'}: not valid YAML: {' '.join(str(error).split())}"
            ) from error
        if not isinstance(document, dict) or "name" not in document or "runtime" not in document:
            raise HomeError(f"{self.project / 'Pulumi.yaml'}: not a Pulumi project; it needs `name` and `runtime`")
        return document

    def _configurations(self) -> Iterator[Path]:
        return self._configuration_folder().glob("Pulumi.*.yaml")

    def _configuration_folder(self) -> Path:
        return self.project / str(self._project_file().get("stackConfigDir", "."))

    def _mirror_project(self) -> None:
        for entry in self.mirror.iterdir():
            if entry.is_symlink():
                entry.unlink()
        for entry in self.project.iterdir():
            copied = entry.name == "Pulumi.yaml" or (entry.name.startswith("Pulumi.") and entry.suffix == ".yaml")
            if not copied and entry != self.root and entry.name not in (".git", "stack-config"):
                (self.mirror / entry.name).symlink_to(entry)
        project = self._project_file() | {"stackConfigDir": "stack-config"}
        (self.mirror / "Pulumi.yaml").write_text(yaml.safe_dump(project, sort_keys=False))
        copies = self.mirror / "stack-config"
        copies.mkdir(exist_ok=True)
        current = {path.name: path for path in self._configurations()}
        for stale in copies.iterdir():
            if stale.name not in current:
                stale.unlink()
        for name, path in current.items():
            (copies / name).write_text(_with_salt(path, copies / name))


def _with_salt(original: Path, copy: Path) -> str:
    """The user's stack configuration, with the salt that the engine wrote into the rehearsal's earlier copy."""
    try:
        document = yaml.safe_load(original.read_text()) or {}
        earlier = yaml.safe_load(copy.read_text()) if copy.exists() else None
    except yaml.YAMLError as error:
        raise HomeError(f"{original}: not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict):
        raise HomeError(f"{original}: a stack configuration is a mapping with the key `config`")
    if isinstance(earlier, dict) and "encryptionsalt" in earlier:
        document.setdefault("encryptionsalt", earlier["encryptionsalt"])
    return yaml.safe_dump(document, sort_keys=False)


def _write_program(path: Path, text: str) -> None:
    """Write an executable in one step: a running engine may be starting it."""
    if path.exists() and path.read_text() == text:
        return
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.chmod(fresh.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    fresh.replace(path)


def _has_passphrase() -> bool:
    return "PULUMI_CONFIG_PASSPHRASE" in os.environ or "PULUMI_CONFIG_PASSPHRASE_FILE" in os.environ


def write_settings(home: Home, settings: Mapping[str, object]) -> None:
    """Replace the rehearsal's settings (latency scale, seed, faults ...) in one step."""
    fresh = home.settings.with_suffix(".new")
    fresh.write_text(json.dumps(settings, indent=2, sort_keys=True))
    fresh.replace(home.settings)
