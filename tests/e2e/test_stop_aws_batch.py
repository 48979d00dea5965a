"""`gpufleet stop` acts on what runs, not on the checkout: AWS Batch with changes that nobody has applied yet."""

import subprocess
from typing import Any

import yaml

from tests.e2e.rehearsed_project import Project

BATCH = "aws-batch-dev"
ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"


def environments(project: Project) -> dict[str, tuple[str, int, int]]:
    """State, least and most vCPUs of each compute environment, in the cloud."""
    found = project.cloud_of(BATCH).store.resources(ENVIRONMENT)
    sizes = {each.name: each.view["computeResources"] for each in found}
    return {
        each.name: (each.view["state"], sizes[each.name].get("minVcpus", 0), sizes[each.name]["maxVcpus"])
        for each in found
    }


def outputs(project: Project) -> dict[str, Any]:
    return project.home.engine(BATCH).outputs(BATCH, secrets=True)


def test_stop_acts_on_what_runs(project: Project) -> None:
    up = project.rehearse(environment=BATCH)
    assert up.returncode == 0, up.stdout + up.stderr
    before, told = environments(project), outputs(project)
    assert {state for state, _, _ in before.values()} == {"ENABLED"}

    # Edits of the checkout that nobody has applied: another instance type makes another compute environment, under
    # another name; a pool is gone; the program itself cannot be run.
    def edit(config: dict[str, Any]) -> None:
        config["pools"]["ondemand"]["types"] = ["g5.12xlarge"]
        del config["pools"]["spot"]

    project.configure(edit, BATCH)
    (project.folder / "stacks" / "aws_batch.py").write_text("raise SystemExit('half an edit')\n")
    written = (project.folder / "stacks" / "config" / f"Pulumi.{BATCH}.yaml").read_text()
    stopped = project.rehearse("--", "gpufleet", "stop", BATCH, "--yes", environment=BATCH)
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    assert environments(project) == {name: ("DISABLED", 0, most) for name, (_, _, most) in before.items()}
    assert outputs(project) == told
    assert (project.folder / "stacks" / "config" / f"Pulumi.{BATCH}.yaml").read_text() == written
    assert "stopped: " in stopped.stdout
    # Again: nothing to change, and nothing that fails.
    assert project.rehearse("--", "gpufleet", "stop", BATCH, "--yes", environment=BATCH).returncode == 0


def test_extend_in_a_rehearsal_leaves_the_checkout_alone(project: Project) -> None:
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.hooksPath=/dev/null")

    def run(*command: str) -> str:
        return subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=True).stdout

    run(*git, "init", "--quiet")
    (project.folder / ".gitignore").write_text(".rehearsal\n.venv\n__pycache__\n")
    run(*git, "add", ".")
    run(*git, "commit", "--quiet", "-m", "as it is")
    extended = project.rehearse("--", "gpufleet", "extend", BATCH, "2028-01-31", environment=BATCH)
    assert extended.returncode == 0, extended.stdout + extended.stderr
    assert run(*git, "status", "--porcelain") == ""
    assert yaml.safe_load(run("cat", f"stacks/config/Pulumi.{BATCH}.yaml"))
