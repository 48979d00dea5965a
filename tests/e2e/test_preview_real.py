"""`gpufleet preview --real`: on a stack's own state in a backend of files. Only the clouds are simulated."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpufleet_rehearsal.workspace import write_settings
from tests.e2e.rehearsed_project import REPOSITORY, Project

CLOSED = "http://127.0.0.1:9"
"""Where nothing answers."""


@dataclass(frozen=True)
class Backend:
    """Plain `pulumi` as a user has it: a login, a passphrase, and the simulated providers as installed plugins."""

    project: Project
    variables: dict[str, str]

    def pulumi(self, *words: str) -> None:
        command = ("pulumi", *words, "--non-interactive")
        done = subprocess.run(command, cwd=self.project.folder, env=self.variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def preview(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.project.run("preview", *words, "--real", "--to", "report", env=self.variables | variables)

    def report(self) -> dict[str, object]:
        (stack,) = json.loads((self.project.folder / "report" / "report.json").read_text())["stacks"]
        return dict(stack)


@pytest.fixture
def backend(project: Project, tmp_path: Path) -> Backend:
    shutil.copytree(REPOSITORY / "policies", project.folder / "policies", ignore=shutil.ignore_patterns("__pycache__"))
    project.home.prepare()
    write_settings(project.home, {"latency_scale": 0, "seed": 1, "faults": [], "control_plane": False})
    state = tmp_path / "state"
    state.mkdir()
    theirs = {"PULUMI_BACKEND_URL": f"file://{state}", "PULUMI_CONFIG_PASSPHRASE": "right"}
    made = Backend(project, project.home.environment() | theirs)
    made.pulumi("stack", "init", "aws-dev", "--no-select")
    return made


def test_a_change_against_the_stacks_own_state(backend: Backend) -> None:
    backend.pulumi("up", "--stack", "aws-dev", "--yes", "--skip-preview", "--parallel", "64")
    done = backend.preview("aws-dev")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stdout + done.stderr
    assert (backend.report()["changes"], backend.report()["summary"]) == ([], {})

    backend.project.configure(lambda config: config["pools"]["trainers"].update(max=1))
    done = backend.preview("aws-dev")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "aws-dev: previewing on its backend" in done.stderr
    text = (backend.project.folder / "report" / "gpufleet.aws-dev.md").read_text()
    assert "**at most $" in text
    assert "1 updated**" in text
    assert "g5.8xlarge x 0 to 2 \N{RIGHTWARDS ARROW} g5.8xlarge x 0 to 1" in text
    assert "-     scalingConfig.maxSize: 2\n+     scalingConfig.maxSize: 1" in text
    assert "simulated clouds" not in text

    # What a policy pack refuses, by its own configuration for the environment.
    backend.project.configure(lambda config: config.update(expires_at="2026-01-31"))
    done = backend.preview("aws-dev")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "any-owner-expiry" in (backend.project.folder / "report" / "report.sarif").read_text()


@pytest.mark.parametrize(
    ("environment", "variables", "words", "fix"),
    [
        pytest.param(
            "aws-dev", {"PULUMI_CONFIG_PASSPHRASE": "wrong"}, "incorrect passphrase",
            "set PULUMI_CONFIG_PASSPHRASE, or PULUMI_CONFIG_PASSPHRASE_FILE, to the one that the stack was made with",
            id="wrong-passphrase",
        ),
        pytest.param(
            "aws-prod", {}, "no stack named 'aws-prod' found",
            "make it with `pulumi stack init`, or preview with --simulated",
            id="unknown-stack",
        ),
        pytest.param(
            "aws-dev", {"PULUMI_BACKEND_URL": "file:///no/such/place"}, "/no/such/place: no such file or directory",
            "see that PULUMI_BACKEND_URL is right, and that its credentials are there and may read",
            id="no-folder",
        ),
        pytest.param(
            "aws-dev",
            {
                "PULUMI_BACKEND_URL": f"s3://states?endpoint={CLOSED}&s3ForcePathStyle=true&region=us-east-1",
                "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "planted", "AWS_MAX_ATTEMPTS": "1",
            },
            "connect: connection refused",
            "see that PULUMI_BACKEND_URL is right, and that its credentials are there and may read",
            id="no-bucket",
        ),
    ],
)  # fmt: skip
def test_a_stack_that_there_is_no_way_to(
    backend: Backend, environment: str, variables: dict[str, str], words: str, fix: str
) -> None:
    done = backend.preview(environment, **variables)
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert line.startswith(f"Error: {environment}: ")
    assert words in line
    assert line.endswith(f"; {fix}")
    assert "planted" not in done.stdout + done.stderr
    # The pull request is told as well.
    assert backend.report()["verdict"] == "failed"
    assert fix in (backend.project.folder / "report" / "report.html").read_text()
