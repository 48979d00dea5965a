"""`gpufleet report` on previews of the real engine: four of them compared as a whole, and the verb's exit codes.

The expected files are in golden/. To write them anew: GPUFLEET_WRITE_GOLDEN=1 pytest tests/e2e/test_report.py
"""

import json
import os
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from gpufleet.report.build import build_report
from gpufleet.report.formats.json import render_json
from gpufleet.report.formats.junit import render_junit
from gpufleet.report.formats.markdown import render_markdown
from gpufleet.report.formats.sarif import render_sarif
from gpufleet.report.load_previews import read_preview
from gpufleet.report.model import Report
from tests.e2e.rehearsed_project import REPOSITORY, Project
from tests.e2e.tiny_program import set_config, tiny

GOLDEN = Path(__file__).parent / "golden"
TODAY = date(2026, 11, 22)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PACKS = " ".join(f"--policy-pack {REPOSITORY / 'policies' / pack}" for pack in ("zones", "cost"))
PLAIN = "pulumi preview -s {stack} --json --show-sames > {folder}/plain"
BOTH = f"PULUMI_DEBUG_COMMANDS=1 {PLAIN} --event-log {{folder}}/log {PACKS}"
"""One preview that gives both forms."""

DATA = """
import pulumi
import pulumi_aws as aws

config = pulumi.Config()
secret = pulumi.Output.secret("PLANTED-in-the-program")
tags = {"owner": "me", "project": "billing", "expires-at": "2027-01-01"}
keep = pulumi.ResourceOptions(protect=config.get("keep") == "yes")
aws.s3.Bucket("data", bucket=config.require("bucket"), tags=tags)
if config.get("files") == "yes":
    aws.efs.FileSystem("shared", tags=tags, opts=keep)
aws.ec2.Vpc("net", cidr_block="10.0.0.0/16", tags={**tags, "token": secret, "note": config.require("bucket")})
aws.Provider("other", region="us-east-1", secret_key="PLANTED-of-a-provider-" + config.require("bucket"))
"""


def preview(project: Project, environment: str, command: str = BOTH) -> dict[str, Path]:
    """The files `plain` and `log` of a preview in the environment's rehearsal, whatever it ends with."""
    folder = project.folder / "previews"
    folder.mkdir(exist_ok=True)
    project.rehearse("--", "sh", "-c", command.format(stack=environment, folder=folder), environment=environment)
    return {name: folder / name for name in ("plain", "log")}


def steady(text: str) -> str:
    """A report without what is another in each run: what the cloud and the engine draw at random."""
    text = re.sub(r"\b(arn:aws[^\"\s]*|eks-[\w-]+-[0-9a-f]{8}-[0-9a-f-]+)", "SOME-ARN", text)
    text = re.sub(
        r"\b(fs|fsap|subnet|vpc|sg|sgr|lt|rtb|eni|nat|eipalloc|igw|acl|key|vpce)-[0-9a-f]{8,17}\b", r"\1-ID", text
    )
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "SOME-UUID", text)
    text = re.sub(r"(?<=-)[0-9a-f]{7}\b", "RANDOM", text)
    return re.sub(r'"gpufleet/v1": "[0-9a-f]{32}"', '"gpufleet/v1": "FINGERPRINT"', text)


def compare(name: str, made: Report) -> None:
    """Compare all forms with the expected files, or write these."""
    forms: Mapping[str, str] = {
        "md": render_markdown(made),
        "json": json.dumps(json.loads(render_json(made)), indent=1, ensure_ascii=False) + "\n",
        "junit.xml": render_junit(made),
        "sarif": json.dumps(json.loads(render_sarif(made, {})), indent=1, ensure_ascii=False) + "\n",
    }
    for ending, text in forms.items():
        file = GOLDEN / f"{name}.{ending}"
        if os.environ.get("GPUFLEET_WRITE_GOLDEN"):
            GOLDEN.mkdir(exist_ok=True)
            file.write_text(steady(text), encoding="utf-8")
        assert steady(text) == file.read_text(encoding="utf-8"), f"{name}.{ending}"
        assert "PLANTED" not in text


def made_of(*files: Path) -> Report:
    return build_report([read_preview(file) for file in files], commit=COMMIT, today=TODAY)


@pytest.mark.smoke
def test_data_that_is_lost_and_secrets_that_are_not_shown(tmp_path: Path) -> None:
    project = tiny(tmp_path / "billing", DATA, bucket="gpufleet-report-first", files="yes", keep="yes")
    assert project.rehearse(environment="dev").returncode == 0
    set_config(project, bucket="gpufleet-report-second", files="no", keep="yes")
    files = preview(project, "dev", PLAIN)
    made = made_of(files["plain"])
    compare("data", made)
    assert [(each.name, each.loses_data, each.protected) for each in made.stacks[0].destructive] == [
        ("shared", True, True),
        ("data", True, False),
    ]


def test_one_number_in_the_configuration(project: Project) -> None:
    assert project.rehearse().returncode == 0
    project.configure(lambda config: config["pools"]["trainers"].update(max=4))
    files = preview(project, "aws-dev")
    made = made_of(files["plain"], files["log"])
    compare("number", made)
    (pool,) = made.stacks[0].gpus
    assert pool.before is not None
    assert pool.after is not None
    assert (pool.before.most, pool.after.most, pool.after.zones) == (2, 4, ["use1-az1"])
    assert made.stacks[0].summary == {"update": 1}

    # The log alone tells the same of what is there already.
    alone = made_of(files["log"])
    assert alone.stacks[0].summary == {"update": 1}
    assert alone.stacks[0].gpus == made.stacks[0].gpus
    assert alone.total is not None
    assert made.total is not None
    assert alone.total.ceiling.usd_month_change == made.total.ceiling.usd_month_change

    # Another type: every node of the pool goes.
    project.configure(lambda config: config["pools"]["trainers"].update(types=["p4d.24xlarge"], max=2))
    files = preview(project, "aws-dev")
    replaced = made_of(files["plain"], files["log"])
    compare("type", replaced)
    assert replaced.verdict == "refused"
    assert ("aws-dev-trainers-nodes", "replace") in [(c.name, c.operation) for c in replaced.stacks[0].destructive]


def test_a_mistake_that_a_component_refuses(project: Project) -> None:
    project.configure(lambda config: config["pools"]["trainers"].update(zones=["use1-az1", "use1-az2"]))
    files = preview(project, "aws-dev", PLAIN)
    # Told by the command line: the engine does not say whose preview it was that failed before its first step.
    done = project.run("report", "--preview", f"aws-dev={files['plain']}", "--to", "out", "--commit", COMMIT)
    assert done.returncode == 1, done.stderr
    said = read_preview(files["plain"])
    said.fallback_name = ("gpufleet", "aws-dev")
    made = build_report([said], commit=COMMIT, today=TODAY)
    compare("mistake", made)
    rules = ["any-placement-one-zone", "aws-efa-one-zone"]
    assert made.verdict == "failed"
    assert [issue.rule for issue in made.stacks[0].issues if issue.severity == "error"] == rules
    untold = project.run("report", "--preview", str(files["plain"]))
    assert untold.returncode == 2
    assert "does not name a stack: it failed before its first step; write --preview STACK=" in untold.stderr
    assert untold.stderr.count("\n") == 1

    # Rehearsed, the same: findings, not an error of the command.
    again = project.run("report", "aws-dev")
    assert again.returncode == 1, again.stderr
    assert all(f"\\[{rule}\\]" in again.stdout for rule in rules)


def test_an_environment_without_a_preview(project: Project, tmp_path: Path) -> None:
    """`gpufleet report ENV`, on simulated clouds: exit codes by policy, and every format in a directory."""
    folder = tmp_path / "out"
    done = project.run("report", "azure-dev", "--to", str(folder))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    names = sorted(file.name for file in folder.iterdir())
    assert names == [
        "gpufleet.azure-dev.md", "gpufleet.azure-dev.svg", "report.html", "report.json", "report.junit.xml",
        "report.md", "report.sarif",
    ]  # fmt: skip
    made = json.loads((folder / "report.json").read_text())
    assert made["verdict"] == "warned"
    assert made["stacks"][0]["cost"]["ceiling"]["usd_month_before"] is None
    sarif = json.loads((folder / "report.sarif").read_text())
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in sarif["runs"][0]["results"]
    }
    assert uris == {"stacks/config/Pulumi.azure-dev.yaml"}
    assert project.run("report", "azure-dev", "--fail-on", "warning").returncode == 1


@pytest.mark.parametrize("words", [(), ("aws-dev", "--preview", "p.json")])
def test_neither_or_both(project: Project, words: tuple[str, ...]) -> None:
    assert project.run("report", *words).returncode == 2
