"""`gpufleet jobs --on slurm` as its user types it, as far as it goes without a cluster."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main

LAB = """
jobs:
  on: slurm
  slurm:
    directory: {directory}
    pools: {{train: {{gpus: 2}}}}
"""


def run(tmp_path: Path, verb: str, *words: str, text: str = LAB) -> Result:
    file = tmp_path / "lab.yaml"
    file.write_text(text.format(directory=tmp_path))
    return CliRunner().invoke(main, ["jobs", verb, "lab", "--outputs", str(file), *words])


def test_a_file_of_ones_own_says_what_runs_the_jobs(tmp_path: Path) -> None:
    """To YAML 1.1 the key `on`, as people write it, is no text."""
    done = run(tmp_path, "submit", "--dry-run", "--name", "run", "--", "true")
    assert done.exit_code == 0, done.output
    assert "- '#SBATCH --gres=gpu:2'\n" in done.stdout
    assert not (tmp_path / "jobs").exists()


def test_a_file_that_is_no_yaml(tmp_path: Path) -> None:
    done = run(tmp_path, "list", text="jobs: [")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"Error: {tmp_path}/lab.yaml: line 1: is not YAML: ")


def test_no_jobs_yet(tmp_path: Path) -> None:
    assert run(tmp_path, "list").output == f"no jobs in {tmp_path}/jobs on this machine\n"
    assert run(tmp_path, "status", "gone").stderr == (
        f"Error: gone: job not found in {tmp_path}/jobs on this machine; see `gpufleet jobs list lab`\n"
    )


def test_outputs_are_on_the_shared_files(tmp_path: Path) -> None:
    done = run(tmp_path, "list")
    assert done.exit_code == 0
    told = CliRunner().invoke(main, ["jobs", "outputs", "list", "lab", "--outputs", str(tmp_path / "lab.yaml"), "run"])
    place = f"{tmp_path}/jobs/JOB/outputs"
    assert told.stderr == f"Error: lab: its jobs write to the shared files, {place}; copy them from there\n"


def test_without_slurm_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only what a folder is made with.
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "mkdir", "tar", "rm", "cat", "head"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tools))
    done = run(tmp_path, "submit", "--name", "run", "--", "true")
    assert done.stderr == (
        "Error: run: not submitted: sbatch: program not found on this machine; name a machine with "
        "Slurm's clients as jobs.slurm.login\n"
    )
    assert not (tmp_path / "jobs" / "run").exists()
