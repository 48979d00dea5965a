"""Our wheel in an environment that knows nothing of this checkout, and another team's programs in it.

The engine and its language host are this checkout's; the program and the package run in the clean environment.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools import sdks

pytestmark = pytest.mark.sdks


def said(command: list[str | Path], folder: Path, **env: str) -> str:
    """What a command prints that must end well."""
    done = subprocess.run(command, cwd=folder, env=environment() | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment() -> dict[str, str]:
    """This process's, without what leads Python to the checkout."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    said([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], sdks.ROOT)
    (built,) = folder.glob("gpufleet-*.whl")
    return built


@pytest.fixture(scope="session")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with `gpufleet[aws,rehearsal]` from the wheel, and nothing else of ours."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    said([sys.executable, "-m", "venv", folder], sdks.ROOT)
    said([folder / "bin" / "python", "-m", "pip", "install", "--quiet", f"{wheel}[aws,rehearsal]"], folder.parent)
    return folder


def rehearsed(clean: Path, folder: Path) -> str:
    """Preview and update of the environment `dev` in the simulated cloud."""
    path = os.pathsep.join([str(clean / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    rehearse = [clean / "bin" / "gpufleet", "rehearse", "dev", "--latency-scale", "0", "--no-control-plane"]
    preview = said([*rehearse, "--", "pulumi", "preview", "-s", "dev"], folder, PATH=path)
    return preview + said(rehearse, folder, PATH=path)


def test_wheel_holds_no_plugin_and_nothing_of_the_checkout(clean: Path) -> None:
    where = said([clean / "bin" / "python", "-c", "import gpufleet; print(gpufleet.__file__)"], clean.parent)
    assert Path(where.strip()).is_relative_to(clean)
    listed = said([clean / "bin" / "python", "-m", "pip", "list", "--format=freeze"], clean.parent)
    assert not {"azure-mgmt-batch", "pulumi-azure-native", "pytest"} & {
        line.partition("==")[0] for line in listed.split()
    }


def test_new_project_is_written_from_the_wheel(clean: Path, tmp_path: Path) -> None:
    said([clean / "bin" / "gpufleet", "init", "--yes", "--cloud", "aws-batch", "--program", "trial"], tmp_path)
    requirements = (tmp_path / "trial" / "requirements.txt").read_text()
    assert requirements.splitlines()[-1].startswith("gpufleet[aws] @ git+https://")
    where = "from gpufleet.repository import shipped; print(shipped('stacks') / 'aws_batch.py')"
    program = Path(said([clean / "bin" / "python", "-c", where], tmp_path).strip())
    assert program.is_relative_to(clean)
    assert program.read_text() == (sdks.ROOT / "stacks" / "aws_batch.py").read_text()


def test_components_are_imported_by_a_program_of_another_team(clean: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sdks.ROOT / "examples" / "python-import", tmp_path / "theirs")
    (folder / "venv").symlink_to(clean)
    output = rehearsed(clean, folder)
    assert "aws:eks:Cluster speech-cluster created" in output
    assert "nodeGroupName" in output


def test_python_example_runs_on_the_package_of_the_release(clean: Path, tmp_path: Path) -> None:
    """With the generated SDK; the package's folder has the wheel's components in its own environment."""
    sdk = shutil.copytree(sdks.BUILD / "gpufleet-aws" / "python", tmp_path / "sdk")
    said([clean / "bin" / "python", "-m", "pip", "install", "--quiet", sdk], tmp_path)
    ignored = shutil.ignore_patterns("venv", "__pycache__")
    package = shutil.copytree(sdks.PACKAGES / "gpufleet-aws", tmp_path / "gpufleet-aws", ignore=ignored)
    (package / "venv").symlink_to(clean)
    folder = shutil.copytree(sdks.ROOT / "examples" / "python", tmp_path / "theirs", ignore=ignored)
    project = yaml.safe_load((folder / "Pulumi.yaml").read_text())
    # Beside the project, by a path relative to it, as a user would write it.
    project["packages"]["gpufleet-aws"] = "../gpufleet-aws"
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
    (folder / "venv").symlink_to(clean)
    output = rehearsed(clean, folder)
    assert "aws:eks:Cluster speech-cluster created" in output
    assert "nodeGroupName" in output


def test_requirements_of_a_package_install_the_checkout(clean: Path) -> None:
    """What the engine's pip does in the folder of a package, asked without doing it: no index has gpufleet."""
    requirements = sdks.PACKAGES / "gpufleet-aws" / "requirements.txt"
    pip = [
        clean / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--quiet",
        "--report",
        "-",
    ]
    report = json.loads(said([*pip, "-r", requirements], requirements.parent))
    (ours,) = [each for each in report["install"] if each["metadata"]["name"] == "gpufleet"]
    assert ours["download_info"]["url"] == sdks.ROOT.as_uri()
