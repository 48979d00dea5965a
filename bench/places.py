"""Where the programs that are measured run: each a rehearsal of its own, in a directory that is gone afterwards."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import flat
from gpufleet.pulumi_cli import PulumiCli, PulumiCliError
from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare
from gpufleet_rehearsal.workspace import Workspace

REPOSITORY = Path(__file__).resolve().parents[1]
ENVIRONMENT = "aws-dev"
REGION = "us-east-1"
STATE = Path("backend") / ".pulumi" / "stacks" / "gpufleet" / f"{ENVIRONMENT}.json"
"""The state of our aws-dev in its rehearsal's directory."""


@dataclass(frozen=True)
class Places:
    """The directory of all measurements."""

    root: Path

    def ours(self) -> PulumiCli:
        """Our own program's aws-dev, as it stands in this checkout, on an empty simulated cloud."""
        return prepare(Workspace(REPOSITORY, self.root / "ours"), RehearsalPlan(ENVIRONMENT, 0, control_plane=False))

    def flat(self) -> PulumiCli:
        """A flat program of the same resources; that they are the same has been checked.

        Errors: PulumiCliError when a preview of it differs from one of ours.
        """
        maker = prepare(Workspace(REPOSITORY, self.root / "maker"), RehearsalPlan(ENVIRONMENT, 0, control_plane=False))
        steps = maker.preview(ENVIRONMENT)
        maker.output_of("up", "--stack", ENVIRONMENT, "--yes", "--skip-preview", "--non-interactive")
        exported = json.loads(maker.output_of("stack", "export", "--show-secrets", "--stack", ENVIRONMENT))
        folder = self._project("flat", flat.flat_program(exported["deployment"]["resources"], steps))
        engine = self._stack(folder, ENVIRONMENT, {})
        different = flat.difference(steps, engine.preview(ENVIRONMENT))
        if different:
            raise PulumiCliError(f"the flat program does not make the same: {', '.join(different)}")
        return engine

    def growth(self, stack: str, config: Mapping[str, int]) -> PulumiCli:
        """The program of any size, see growth/__main__.py."""
        program = (REPOSITORY / "bench" / "growth" / "__main__.py").read_text()
        return self._stack(self._project(f"growth-{stack}", program), stack, config)

    def _project(self, name: str, program: str) -> Path:
        folder = self.root / name
        folder.mkdir()
        (folder / "__main__.py").write_text(program)
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": ".venv"}}
        # JSON is YAML as well.
        (folder / "Pulumi.yaml").write_text(json.dumps({"name": "bench", "runtime": runtime}))
        (folder / ".venv").symlink_to(Path(sys.prefix))
        return folder

    def _stack(self, folder: Path, stack: str, config: Mapping[str, int]) -> PulumiCli:
        values = {"aws:region": REGION} | {f"bench:{key}": value for key, value in config.items()}
        (folder / f"Pulumi.{stack}.yaml").write_text(json.dumps({"config": values}))
        return prepare(Workspace(folder, folder / ".rehearsal"), RehearsalPlan(stack, 0, control_plane=False))


def compile_into(root: Path) -> None:
    """Keep the bytecode of everything that runs from here on in one place, made by the first run of each program.

    Otherwise it depends on the machine's installer and settings which modules are compiled anew at each start, and
    the figures would mostly tell that.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(root / "bytecode")
    # The catalog that ships, not one that somebody has refreshed.
    os.environ["GPUFLEET_CATALOG"] = ""


def custom(steps: Sequence[Mapping[str, Any]]) -> int:
    """Resources among the steps of a preview that are not components."""
    return sum(1 for step in steps if flat.made(step["newState"]))
