"""A rehearsal's directory: the simulated cloud, the engine's own home and state, and a mirror of the program.

The user's project is never written to. The engine runs in a mirror of it: every entry is a link to the real one,
only the stack configuration files are copies, because the engine writes an encryption salt into them.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import yaml

from gpufleet.atomic_file import update_file
from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli, PulumiCliError
from gpufleet_rehearsal.cloud.settings import load_settings
from gpufleet_rehearsal.cloud.store import ensure_room
from gpufleet_rehearsal.provider.plugin import CLOUDS
from gpufleet_rehearsal.stack_config import StackConfig, stack_config

if TYPE_CHECKING:
    from gpufleet_rehearsal.kubernetes.control_plane import RehearsalControlPlane

# The real provider versions that the simulated providers replace: those of the SDKs that gpufleet is locked to.
SIMULATED_PROVIDERS: Mapping[str, str] = {"aws": "7.51.1", "azure-native": "3.29.0", "kubernetes": "4.24.0"}
# Not anybody's own: a rehearsal holds no secret, but for those that are encrypted in the user's configuration.
PASSPHRASE = "rehearsal"
_EXECUTABLE = 0o755
_NOT_INHERITED = ("AWS_", "ARM_", "AZURE_", "PULUMI_ACCESS", "GPUFLEET_AZURE_", "GPUFLEET_AWS_")
"""Beginnings of variables: of credentials, and of the services that another rehearsal plays."""

_PLUGIN = """#!{python}
from gpufleet_rehearsal.provider.plugin import main

main("{cloud}")
"""
_LAUNCHER = """#!{python}
from gpufleet_rehearsal.pulumi_wrapper import main

main({project!r}, {root!r})
"""


class WorkspaceError(UserError):
    """The rehearsal's directory or the program cannot be used; the text is the one line for the user."""


@dataclass(frozen=True)
class Workspace:
    """The directory of one project's rehearsal.

    project: the directory with Pulumi.yaml. root: where the rehearsal lives, `<project>/.rehearsal` by default.
    """

    project: Path
    root: Path

    @classmethod
    def of(cls, program: Path, root: Path | None = None) -> "Workspace":
        """The rehearsal of the Pulumi project that `program` lies in.

        Errors: WorkspaceError when neither the directory nor one above it has a Pulumi.yaml.
        """
        start = program.resolve()
        for folder in (start, *start.parents):
            if (folder / "Pulumi.yaml").is_file():
                return cls(folder, (root or folder / ".rehearsal").resolve())
        raise WorkspaceError(f"{program}: no Pulumi.yaml here or above; give a Pulumi project with --program DIR")

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

        Safe while an engine is at work in it.
        Errors: StoreError when the disk is full, WorkspaceError when the directory is not writable.
        """
        try:
            self._make_root()
            for folder in (self.root / "backend", self.mirror, self.launcher, self._copies):
                folder.mkdir(parents=True, exist_ok=True)
            ensure_room(self.root)
            update_file(self.root / ".gitignore", "*\n")
            self._install_providers()
            self._keep_no_logs()
            text = _LAUNCHER.format(python=sys.executable, project=str(self.project), root=str(self.root))
            update_file(self.launcher / "pulumi", text, mode=_EXECUTABLE)
            self._mirror_project()
        except OSError as error:
            raise WorkspaceError(
                f"{self.root}: {error.strerror or error}; give another place with --home DIR"
            ) from error

    def _make_root(self) -> None:
        """The directory, which nobody else may enter: providers are given secrets in plain text, and store them there.

        An existing one, not from a rehearsal, keeps its mode; the files of the simulated clouds are 0600 anyway.
        """
        if not self.root.exists() or (self.root / "backend").exists():
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.root.chmod(0o700)

    def environment(self, stack: str | None = None) -> dict[str, str]:
        """Environment variables in which plain `pulumi` talks to the rehearsal and to nothing else.

        stack: of which one, so that its passphrase is known; without it the caller's passphrase, if there is one.
        Errors: WorkspaceError when the stack's secrets need a passphrase and there is none, SettingsError.
        """
        own = {
            "GPUFLEET_REHEARSAL": str(self.root),
            # What a program itself waits for, for the cloud's sake, takes as long as the rehearsal's cloud does.
            "GPUFLEET_PAUSE_SCALE": f"{load_settings(self.settings).latency_scale:g}",
            "PULUMI_HOME": str(self._engines_own),
            # Without metadata=skip the engine writes a second file beside the state, not atomically: killed at that
            # moment it cannot read its own state any more ("failed to load checkpoint: EOF").
            "PULUMI_BACKEND_URL": f"file://{self.root / 'backend'}?metadata=skip",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            # Also keeps the user's own clusters out of reach.
            "KUBECONFIG": str(self.root / "kubernetes" / "kubeconfig"),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), *self._outer_path()]),
        }
        # Real credentials have no business in a rehearsal: a program that finds none cannot reach a real cloud.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(_NOT_INHERITED)}
        return inherited | own | self._passphrase(stack)

    def _passphrase(self, stack: str | None) -> dict[str, str]:
        given = "PULUMI_CONFIG_PASSPHRASE" in os.environ or "PULUMI_CONFIG_PASSPHRASE_FILE" in os.environ
        if stack is not None and stack in self.stacks() and self.stack_config(stack).own_passphrase and not given:
            raise WorkspaceError(
                f"{self.configuration(stack)}: it holds secrets, and PULUMI_CONFIG_PASSPHRASE is not set; set it, or "
                "PULUMI_CONFIG_PASSPHRASE_FILE, to the passphrase that they were made with"
            )
        if given and (stack is None or stack not in self.stacks() or self.stack_config(stack).own_passphrase):
            return {}
        return {"PULUMI_CONFIG_PASSPHRASE": PASSPHRASE}

    def engine(self, stack: str | None = None, output: IO[str] | None = None) -> PulumiCli:
        """The real engine on this rehearsal. output: where its output goes, the terminal when None."""
        return PulumiCli(self.mirror, self.environment(stack), output)

    def open_stack(self, stack: str) -> PulumiCli:
        """The engine, with the stack made if it is not there, and sure to open with the passphrase that there is.

        Errors: WorkspaceError for a passphrase that does not fit, and for a state that a full disk has damaged.
        """
        config = self.stack_config(stack)
        begin_again = f"remove {self.root} to begin the rehearsal again"
        if config.remade:
            raise WorkspaceError(
                f"{self.configuration(stack)}: its secrets were made with another passphrase than the rehearsal's "
                f"state; {begin_again}"
            )
        state = self._state(stack)
        if state.exists() and not _is_json(state):
            raise WorkspaceError(f"{state}: the engine's state is damaged; {begin_again}")
        engine = self.engine(stack)
        try:
            if not state.exists():
                engine.init(stack)
            if config.own_passphrase:
                engine.output_of("config", "--stack", stack, "--json", "--show-secrets")
        except PulumiCliError as error:
            if "incorrect passphrase" not in str(error):
                raise
            raise WorkspaceError(
                f"{self.configuration(stack)}: PULUMI_CONFIG_PASSPHRASE is not the passphrase that its secrets were "
                "made with"
            ) from error
        return engine

    def _outer_path(self) -> list[str]:
        """The caller's PATH without launchers: in a rehearsal's shell one would find itself as the engine.

        Also not that of the rehearsal that we are inside of, which may be another one: it leads the engine there.
        """
        entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
        outer = os.environ.get("GPUFLEET_REHEARSAL")
        launchers = {str(self.launcher), *([str(Path(outer) / self.launcher.name)] if outer else [])}
        return [entry for entry in entries if entry not in launchers]

    def stacks(self) -> list[str]:
        """Names of the environments that the project has a configuration file for, sorted."""
        return sorted(path.name[len("Pulumi.") : -len(".yaml")] for path in self._configurations())

    def configuration(self, stack: str) -> Path:
        """The user's own configuration file of a stack."""
        return self._configuration_folder() / f"Pulumi.{stack}.yaml"

    def stack_config(self, stack: str) -> StackConfig:
        """The configuration of a stack that the engine gets to see. Errors: UserError for the user's file."""
        name = f"Pulumi.{stack}.yaml"
        return stack_config(self.configuration(stack), self._copies / name, self._state(stack))

    def cloud(self, stack: str) -> str:
        """Which of the clouds a stack is on: the one whose provider its configuration names, else the first.

        Errors: UserError for a file that cannot be read.
        """
        namespaces = {str(key).partition(":")[0] for key in self.config(stack)}
        return next((cloud for cloud in CLOUDS if cloud in namespaces), CLOUDS[0])

    def config(self, stack: str) -> Mapping[str, Any]:
        """What the user's own file sets for a stack. Errors: UserError for a file that cannot be read."""
        document = read_yaml(self.configuration(stack))
        config = document.get("config") if isinstance(document, dict) else None
        return config if isinstance(config, dict) else {}

    def account(self, environment: str) -> Path:
        """The file that lists what the simulated account holds before an environment comes up (account.py)."""
        return self._configuration_folder() / f"rehearsal.{environment}.yaml"

    @property
    def control_plane(self) -> "RehearsalControlPlane":
        """What simulated clusters' kubeconfigs lead to; started when a program first needs it."""
        from gpufleet_rehearsal.kubernetes.control_plane import RehearsalControlPlane

        return RehearsalControlPlane(self.root)

    def clear(self) -> None:
        """Forget this rehearsal: the simulated cloud, the engine's state, the control plane."""
        self.control_plane.stop()
        shutil.rmtree(self.root)

    def _install_providers(self) -> None:
        for cloud in SIMULATED_PROVIDERS:
            self._provider_folder(cloud).mkdir(parents=True, exist_ok=True)
            text = _PLUGIN.format(python=sys.executable, cloud=cloud)
            update_file(self._provider_folder(cloud) / f"pulumi-resource-{cloud}", text, mode=_EXECUTABLE)

    def _keep_no_logs(self) -> None:
        """A file where the engine would make a folder of logs, without which it continues: docs/decisions/0018.

        A folder that is there stays: anyone who wants logs makes one.
        """
        logs = self._engines_own / "logs"
        if not logs.exists():
            update_file(logs, "No logs in a rehearsal. For a log of all that the engine does, make this a folder.\n")

    @property
    def _engines_own(self) -> Path:
        return self.root / "pulumi-home"

    def _provider_folder(self, cloud: str) -> Path:
        return self._engines_own / "plugins" / f"resource-{cloud}-v{SIMULATED_PROVIDERS[cloud]}"

    @property
    def _copies(self) -> Path:
        """Where the engine finds the stack configuration: beside the mirror, so that no name can meet the user's."""
        return self.root / "stack-config"

    def _state(self, stack: str) -> Path:
        return self.root / "backend" / ".pulumi" / "stacks" / str(self._project_file()["name"]) / f"{stack}.json"

    def _project_file(self) -> dict[str, object]:
        document = read_yaml(self.project / "Pulumi.yaml")
        if not isinstance(document, dict) or "name" not in document or "runtime" not in document:
            raise WorkspaceError(f"{self.project / 'Pulumi.yaml'}: not a Pulumi project; it needs `name` and `runtime`")
        return document

    def _configurations(self) -> Iterator[Path]:
        return self._configuration_folder().glob("Pulumi.*.yaml")

    def _configuration_folder(self) -> Path:
        return self.project / str(self._project_file().get("stackConfigDir", "."))

    def _mirror_project(self) -> None:
        wanted = {entry.name: entry for entry in self.project.iterdir() if self._is_mirrored(entry)}
        for entry in self.mirror.iterdir():
            if entry.is_symlink() and (entry.name not in wanted or entry.readlink() != wanted[entry.name]):
                entry.unlink()
        for name, entry in wanted.items():
            if not (self.mirror / name).is_symlink():
                (self.mirror / name).symlink_to(entry)
        update_file(self.mirror / "Pulumi.yaml", yaml.safe_dump(self._mirrored_project(), sort_keys=False))
        current = {f"Pulumi.{stack}.yaml": stack for stack in self.stacks()}
        for stale in self._copies.iterdir():
            if stale.name not in current:
                stale.unlink()
        for name, stack in current.items():
            update_file(self._copies / name, self.stack_config(stack).text)

    def _mirrored_project(self) -> dict[str, object]:
        """The user's project file with the rehearsal's configuration folder and simulated providers.

        A provider that is listed here serves an SDK of any version.
        """
        project = self._project_file()
        plugins = project.get("plugins")
        plugins = plugins if isinstance(plugins, dict) else {}
        others = [
            self._located(entry)
            for entry in plugins.get("providers") or []
            if entry.get("name") not in SIMULATED_PROVIDERS
        ]
        packages = project.get("packages")
        located = {name: self._from_here(spec) for name, spec in packages.items()} if isinstance(packages, dict) else {}
        ours = [{"name": cloud, "path": str(self._provider_folder(cloud))} for cloud in SIMULATED_PROVIDERS]
        return project | {
            "runtime": self._located_runtime(project["runtime"]),
            "stackConfigDir": os.path.relpath(self._copies, self.mirror),
            "plugins": plugins | {"providers": [*others, *ours]},
            **({"packages": located} if located else {}),
        }

    def _located_runtime(self, runtime: object) -> object:
        """The runtime, with a virtual environment outside of the project as an absolute path."""
        options = runtime.get("options") if isinstance(runtime, dict) else None
        if not isinstance(runtime, dict) or not isinstance(options, dict):
            return runtime
        place = options.get("virtualenv")
        if not isinstance(place, str) or not place.startswith(".."):
            return runtime
        # Not resolved: an environment may be a link, which the language host has to see.
        return {**runtime, "options": {**options, "virtualenv": os.path.normpath(self.project / place)}}

    def _located(self, plugin: Mapping[str, object]) -> dict[str, object]:
        return {**plugin, "path": self._from_here(plugin.get("path"))} if "path" in plugin else dict(plugin)

    def _from_here(self, place: object) -> object:
        """A folder that the user names relative to the project; anything else as it is."""
        near = isinstance(place, str) and place.startswith((".", "/"))
        return str((self.project / str(place)).resolve()) if near else place

    def _is_mirrored(self, entry: Path) -> bool:
        copied = entry.name.startswith("Pulumi.") and entry.suffix == ".yaml"
        return not copied and entry != self.root and entry.name != ".git"


def _is_json(file: Path) -> bool:
    try:
        return json.loads(file.read_text()) is not None
    except ValueError:
        return False


def write_settings(home: Workspace, settings: Mapping[str, object]) -> None:
    """Replace the rehearsal's settings (latency scale, seed, faults ...) in one step."""
    update_file(home.settings, json.dumps(settings, indent=2, sort_keys=True))
