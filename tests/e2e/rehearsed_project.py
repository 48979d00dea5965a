"""The real engine, the real program and the simulated cloud, driven by the command line as a user would."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.workspace import Workspace

REPOSITORY = Path(__file__).resolve().parents[2]
GPUFLEET = Path(sys.executable).parent / "gpufleet"


@dataclass(frozen=True)
class Project:
    """A copy of our project that a test may change. Its rehearsal is in `.rehearsal` of the copy.

    control_plane: whether simulated clusters lead to a real one, for tests with the mark `cluster`. before: words
    before each command, which enter a namespace of the test's.
    """

    folder: Path
    control_plane: bool = False
    before: tuple[str, ...] = ()

    @property
    def home(self) -> Workspace:
        return Workspace.of(self.folder)

    @property
    def cloud(self) -> Cloud:
        """The simulated AWS."""
        return open_cloud("aws", self.home.root)

    def cloud_of(self, environment: str) -> Cloud:
        """The simulated cloud of an environment."""
        return open_cloud(self.home.cloud(environment), self.home.root)

    def run(self, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run `gpufleet ...` in the project."""
        return subprocess.run(
            [*self.before, str(GPUFLEET), *arguments],
            cwd=self.folder,
            env=os.environ | (env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )

    def rehearse(self, *arguments: str, environment: str = "aws-dev") -> subprocess.CompletedProcess[str]:
        """`gpufleet rehearse aws-dev` without waiting for the simulated cloud."""
        plane = "--control-plane" if self.control_plane else "--no-control-plane"
        return self.run("rehearse", environment, "--latency-scale", "0", plane, *arguments)

    def state(self, environment: str = "aws-dev") -> list[dict[str, Any]]:
        return self.home.engine().state(environment)

    def configure(self, change: Callable[[dict[str, Any]], None], environment: str = "aws-dev") -> None:
        """Change the environment's configuration; keys without their `gpufleet:`."""
        file = self.folder / "stacks" / "config" / f"Pulumi.{environment}.yaml"
        document = yaml.safe_load(file.read_text())
        config = {key.removeprefix("gpufleet:"): value for key, value in document["config"].items()}
        change(config)
        document["config"] = {key if ":" in key else f"gpufleet:{key}": value for key, value in config.items()}
        file.write_text(yaml.safe_dump(document))

    def store_secrets(
        self, secrets: Mapping[str, str], passphrase: str, folder: Path, environment: str = "aws-dev"
    ) -> None:
        """Encrypt secrets into the environment's configuration, as the documentation says: from standard input.

        secrets: value by path, such as gpufleet:team.ngc_key. folder: an empty one, for a backend that only does this.
        """
        home = {"PULUMI_BACKEND_URL": f"file://{folder}", "PULUMI_HOME": str(folder / "home")}
        env = os.environ | home | {"PULUMI_CONFIG_PASSPHRASE": passphrase}
        put = ["config", "set", "-s", environment, "--secret", "--path"]
        for words, value in ((["stack", "init", environment], ""), *(([*put, key], secrets[key]) for key in secrets)):
            pulumi = str(GPUFLEET.with_name("pulumi"))
            subprocess.run(
                [pulumi, *words], cwd=self.folder, env=env, input=value, text=True, check=True, capture_output=True
            )

    def connect_site(self, environment: str = "hybrid") -> None:
        """Configure the site's router, as `gpufleet link` says, and go on to the phase in which the line is up."""
        file = self.folder / "stacks" / "config" / f"rehearsal.{environment}.yaml"
        file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | {"router_configured": True}))
        self.configure(lambda config: config.update(phase="cluster"), environment)

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that stands in a file of the program exactly once."""
        path = self.folder / file
        text = path.read_text()
        assert text.count(old) == 1, (file, old)
        path.write_text(text.replace(old, new))


def held(cloud: Cloud) -> list[str]:
    """Names and types of everything that the cloud holds and did not make by itself."""
    return sorted(f"{r.name} {r.type}" for r in cloud.store.resources() if r.owner is None)


def names_of(resources: list[dict[str, Any]]) -> set[str]:
    return {str(resource["urn"]).split("::")[-1] for resource in resources}


def copy_of_ours(folder: Path, *, control_plane: bool = False) -> Project:
    """A project in an empty folder: our Pulumi.yaml and stacks, and the virtual environment that runs the tests."""
    shutil.copy(REPOSITORY / "Pulumi.yaml", folder)
    shutil.copytree(REPOSITORY / "stacks", folder / "stacks", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".venv").symlink_to(Path(sys.prefix))
    return Project(folder, control_plane)
