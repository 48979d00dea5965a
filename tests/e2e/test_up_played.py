"""up.yml and deploy.yml with the real gpufleet, engine and git. GitHub's scheduler is played, and the cloud simulated.

What is deployed is known by the engine's own records, in a backend of files.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpufleet_rehearsal.workspace import write_settings
from tests.e2e.tiny_program import tiny
from tests.tools.deployments import Deployments
from tests.tools.github_scheduler import Job

PROGRAM = """
import pulumi
import pulumi_aws as aws

config = pulumi.Config()
tags = {"owner": "ana", "project": "played", "environment": pulumi.get_stack(), "expires-at": "2027-12-31"}
aws.ec2.Vpc("net", cidr_block="10.0.0.0/16", tags=tags | {"day": config.require("day")})
if config.get_bool("logs"):
    aws.cloudwatch.LogGroup("logs", name=f"logs-{pulumi.get_stack()}", retention_in_days=7, tags=tags)
notice = {"comparison_operator": "GREATER_THAN", "threshold": 80, "threshold_type": "PERCENTAGE"}
notice |= {"notification_type": "ACTUAL", "subscriber_email_addresses": ["ana@example.com"]}
limit = {"budget_type": "COST", "limit_amount": "10", "limit_unit": "USD", "time_unit": "MONTHLY"}
aws.budgets.Budget("budget", **limit, notifications=[notice], tags=tags)
"""
NAMES = ("dev", "prod")


@dataclass
class Fleet:
    """Two environments that were deployed by hand, and the host of their code."""

    deployments: Deployments
    salts: dict[str, str]

    def configuration(self, name: str, day: str, logs: str = "true") -> str:
        return f"{self.salts[name]}config:\n  aws:region: us-east-1\n  played:day: {day}\n  played:logs: {logs}\n"

    def push(self, **days: str) -> str:
        return self.deployments.push(**{name: self.configuration(name, day) for name, day in days.items()})

    def pulumi(self, *words: str) -> str:
        variables = {"PULUMI_BACKEND_URL": self.deployments.github.variables["GPUFLEET_BACKEND"]}
        done = subprocess.run(
            ["pulumi", *words, "--non-interactive"], cwd=self.deployments.folder, capture_output=True, text=True,
            env=os.environ | self.deployments.github.process | variables | {"PULUMI_CONFIG_PASSPHRASE": "right"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def deployed(self, name: str) -> str:
        """The commit of the newest update, as the engine wrote it down."""
        newest = next(each for each in json.loads(self.pulumi("stack", "history", "--json", "-s", name)))
        assert newest["result"] == "succeeded"
        assert newest["environment"]["git.dirty"] == "false"
        return str(newest["environment"]["git.head"])

    def day(self, name: str) -> str:
        resources = json.loads(self.pulumi("stack", "export", "-s", name))["deployment"]["resources"]
        (vpc,) = [each for each in resources if each["type"] == "aws:ec2/vpc:Vpc"]
        return str(vpc["inputs"]["tags"]["day"])

    def failures(self) -> list[str]:
        """The logs of jobs that failed."""
        return [job.log for job in self.deployments.github.jobs() if job.state == "failure"]

    def waits(self) -> Job:
        assert not self.failures(), "\n".join(self.failures())
        (job,) = self.deployments.github.waiting()
        return job

    def review(self, job: Job) -> None:
        self.deployments.github.review(job)
        self.deployments.github.work()


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    home = tiny(tmp_path / "home").home
    home.prepare()
    write_settings(home, {"latency_scale": 0, "seed": 1, "faults": [], "control_plane": False})
    place = tmp_path / "github"
    place.mkdir()
    state = tmp_path / "state"
    state.mkdir()
    deployments = Deployments.empty(place, home.environment())
    github = deployments.github
    github.variables = {"GPUFLEET_BACKEND": f"file://{state}", "GPUFLEET_ENVIRONMENTS": json.dumps(NAMES)}
    github.environment_secrets = {each: {"PULUMI_CONFIG_PASSPHRASE": "right"} for each in (*NAMES, "plan")}
    github.reviewed = frozenset(NAMES)
    made = Fleet(deployments, {})
    folder = deployments.folder
    (folder / "Pulumi.yaml").write_text("name: played\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    (folder / "Makefile").write_text(f"setup:\n\t@ln -sfn {sys.prefix} .venv\n")
    (folder / ".gitignore").write_text("/.venv\n/report/\n__pycache__/\n")
    for name in NAMES:
        made.pulumi("stack", "init", name, "--no-select")
        made.salts[name] = (folder / f"Pulumi.{name}.yaml").read_text()
        (folder / f"Pulumi.{name}.yaml").write_text(made.configuration(name, "0"))
    # By hand, from a commit that main has, and whose run has nothing left to do then.
    deployments.commit(docs="x")
    for name in NAMES:
        made.pulumi("up", "--yes", "--skip-preview", "-s", name)
    github.work()
    assert (github.waiting(), made.failures()) == ([], [])
    return made


def test_what_was_pushed_is_deployed_and_what_was_approved_is_done(fleet: Fleet) -> None:
    # Three pushes during one approval: the same environment, another one, and a document.
    first = fleet.push(dev="1")
    approval = fleet.waits()
    assert (
        "update" in (approval.scope.jobs[0].log + str(approval.scope.jobs[0].outputs)) or approval.environment == "dev"
    )
    fleet.push(prod="2")
    lossy = fleet.deployments.push(dev=fleet.configuration("dev", "2", logs="false"))
    last = fleet.deployments.push(docs="y")
    fleet.review(approval)
    assert (fleet.deployed("dev"), fleet.day("dev")) == (first, "1")
    assert last != lossy

    # The next preview is of all that came since. It loses data: what was approved is allowed.
    fleet.deployments.approve()
    assert (fleet.day("dev"), fleet.day("prod")) == ("2", "2")
    assert fleet.deployed("dev") in (lossy, last)
    assert [
        job.state for run in fleet.deployments.github.runs for job in run.scope.jobs if job.state == "failure"
    ] == []
    assert "logs" not in fleet.pulumi("stack", "export", "-s", "dev")

    # What changes behind the approval's back is refused: here, the environment was ended by hand.
    fleet.push(prod="3")
    approval = fleet.waits()
    fleet.pulumi("destroy", "--yes", "--skip-preview", "-s", "prod")
    fleet.review(approval)
    assert approval.state == "failure"
    assert "Error: played/prod: " in approval.log
    assert "not as approved; preview and approve it again" in approval.log
    assert "pulumi:pulumi:Stack" not in fleet.pulumi("stack", "export", "-s", "prod")
