"""A temporary environment ends by itself, on the real engine: its data stays, and so does everything of others.

The expected lines are in golden/reap.txt. To write them anew: GPUFLEET_WRITE_GOLDEN=1 pytest tests/e2e/test_reap.py
"""

import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.rehearsed_project import Project, held, names_of

GOLDEN = Path(__file__).parent / "golden" / "reap.txt"
Resources = list[dict[str, Any]]


def reaped(project: Project, *arguments: str, code: int = 0) -> dict[str, str]:
    """Verdicts of `gpufleet reap`, by stack."""
    found = project.rehearse("--", "gpufleet", "reap", "--grace", "3d", "--json", *arguments)
    assert found.returncode == code, found.stdout + found.stderr
    assert "ciphertext" not in found.stdout
    return {each["stack"]: each["verdict"] for each in json.loads(found.stdout)["environments"]}


def state_file(project: Project, stack: str, of: str = "gpufleet") -> Path:
    return project.home.root / "backend" / ".pulumi" / "stacks" / of / f"{stack}.json"


def edit_state(project: Project, stack: str, change: Callable[[Resources], None], of: str = "gpufleet") -> None:
    """Change a stack's resources in the engine's own state."""
    file = state_file(project, stack, of)
    content = json.loads(file.read_text())
    change(content["checkpoint"]["latest"]["resources"])
    file.write_text(json.dumps(content))


def age(project: Project, stack: str, hours: float, of: str = "gpufleet") -> None:
    """Make a stack look as if it had been made so many hours ago."""

    def older(resources: Resources) -> None:
        for resource in resources:
            born = datetime.fromisoformat(resource["created"]) - timedelta(hours=hours)
            resource["created"] = born.astimezone(UTC).isoformat().replace("+00:00", "Z")

    edit_state(project, stack, older, of)


def temporary(config: dict[str, Any]) -> None:
    config.update(expires_at="6d", purpose="a paper")


def test_what_has_had_its_time_goes_and_its_data_stays(project: Project) -> None:
    for stack in ("aws-batch-dev", "aws-dev"):
        project.configure(temporary, stack)
        up = project.rehearse(environment=stack)
        assert up.returncode == 0, up.stdout + up.stderr
    purposes = {each.tags["purpose"] for each in project.cloud.store.resources() if "owner" in each.tags}
    assert purposes == {"a paper"}
    fresh = project.state("aws-batch-dev")

    # 5 hours: nobody touches it. 150 hours: it is warned of. 240 hours: it is due, and a dry run changes nothing.
    age(project, "aws-batch-dev", 5)
    age(project, "aws-dev", 150)
    before = held(project.cloud)
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "in-grace"}
    age(project, "aws-dev", 90)
    assert reaped(project, "--dry-run") == {"aws-batch-dev": "stays", "aws-dev": "due"}
    assert reaped(project, "--yes", "--keep", "gpufleet/aws-d*") == {"aws-batch-dev": "stays", "aws-dev": "spared"}
    # Nobody can be asked here.
    assert reaped(project, code=1) == {"aws-batch-dev": "stays", "aws-dev": "due"}
    assert held(project.cloud) == before

    # Somebody who may write the state puts another environment's cluster in it: the cloud says whose it is.
    (theirs,) = [each for each in fresh if each["urn"].endswith("::aws-batch-dev-network-vpc")]
    own: dict[str, str] = {}

    def put(resources: Resources) -> None:
        (vpc,) = [each for each in resources if each["urn"].endswith("::aws-dev-network-vpc")]
        own["id"], vpc["id"] = vpc["id"], theirs["id"] if not own else own["id"]

    edit_state(project, "aws-dev", put)
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "foreign"}
    assert held(project.cloud) == before
    edit_state(project, "aws-dev", put)
    assert project.rehearse("--", "pulumi", "refresh", "--yes", "--stack", "aws-dev").returncode == 0

    # Now for real: compute is gone from the cloud, the data is there, and the other is as it was.
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "destroyed"}
    left = [each for each in held(project.cloud) if each.startswith("aws-dev-")]
    assert {each.split(" ")[0] for each in left} == {
        "aws-dev-files-files", "aws-dev-files-access", "aws-dev-files-backup", "aws-dev-files-policy",
        "aws-dev-registry-aws-dev/training", "aws-dev-registry-aws-dev/training-lifecycle",
    }  # fmt: skip
    assert [each for each in held(project.cloud) if not each.startswith("aws-dev-")] == [
        each for each in before if not each.startswith("aws-dev-")
    ]
    assert names_of(project.state("aws-batch-dev")) == names_of(fresh)
    listed = project.rehearse("--", "gpufleet", "ps", "--json")
    old = next(each for each in json.loads(listed.stdout)["environments"] if each["stack"] == "aws-dev")
    assert (old["only_data"], old["expired"], old["purpose"]) == (True, False, "a paper")

    # What only keeps data is not destroyed again and again; a new life begins with the next `up`, older files or not.
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "stays"}
    again = project.rehearse(environment="aws-dev")
    assert again.returncode == 0, again.stdout + again.stderr
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "stays"}


@pytest.mark.sweep
def test_environment_that_says_so_takes_its_data_along(erasing: Project) -> None:
    erasing.configure(lambda config: config.update(expires_at="1h"))
    assert erasing.rehearse().returncode == 0
    age(erasing, "aws-dev", 240)

    # Unprotected alone, as `pulumi state unprotect` leaves it, is no word of its configuration.
    def silenced(resources: Resources) -> None:
        (root,) = [each for each in resources if each["type"] == "pulumi:pulumi:Stack"]
        assert root["outputs"].pop("erase") is True

    kept = state_file(erasing, "aws-dev").read_text()
    edit_state(erasing, "aws-dev", silenced)
    before = held(erasing.cloud)
    assert reaped(erasing, "--yes") == {"aws-dev": "uncertain"}
    assert held(erasing.cloud) == before
    state_file(erasing, "aws-dev").write_text(kept)
    assert reaped(erasing, "--yes") == {"aws-dev": "destroyed"}
    assert held(erasing.cloud) == []


TAGS = {"environment": "{stack}", "project": "vision", "owner": "ana", "gpufleet-stack": "gpufleet/{stack}"}
FOREIGN = dict.fromkeys(TAGS, "")
# Tags of the four resources of each stack, beside those: of all, and of the last one.
STACKS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "due": ({"expires-at": "2026-01-31"}, {}),
    "lasts": ({"expires-at": "9999-12-31"}, {}),
    "stray": ({"expires-at": "never"}, {"expires-at": "2026-01-31"}),
    "once": ({}, {"expires-at": "2026-01-31"}),
    "no-such-day": ({"expires-at": "2026-01-31"}, {"expires-at": "2026-02-30"}),
    "soon": ({"expires-at": "soon"}, {}),
    "billing-db": (FOREIGN, {**FOREIGN, "expires-at": "2026-01-31"}),
    "renamed": ({"gpufleet-stack": "gpufleet/old-name", "expires-at": "2026-01-31"}, {}),
    "mixed": ({"expires-at": "2026-01-31"}, {"gpufleet-stack": "other/dev"}),
    "one-mark": ({**FOREIGN, "expires-at": "2026-01-31"}, {**TAGS, "expires-at": "2026-01-31"}),
    "no-owner": ({"expires-at": "2026-01-31", "owner": ""}, {}),
    "a-prod": ({"expires-at": "2026-01-31"}, {}),
    "kept": ({"expires-at": "2026-01-31"}, {}),
    "worked-on": ({"expires-at": "2026-01-31"}, {}),
    "dead-lock": ({"expires-at": "2026-01-31"}, {}),
    "never": ({"expires-at": "never"}, {}),
}
MADE = ("due", "billing-db")
"""Those that the engine brings up. The others' states name the log groups of the second, so that one that was destroyed
by mistake would be missed there."""

EKS = "aws:eks/cluster:Cluster"
PROGRAM = """
import pulumi
import pulumi_aws as aws

for name, tags in pulumi.Config("plain").require_object("tags").items():
    aws.cloudwatch.LogGroup(name, name=f"/{pulumi.get_stack()}/{name}", retention_in_days=7, tags=tags)
"""


def tags_of(stack: str) -> dict[str, dict[str, str]]:
    """The tags of each log group of a stack, by its name."""
    most, last = STACKS[stack]
    every = [TAGS | most] * 3 + [TAGS | most | last]
    return {
        f"logs-{number}": {key: value.format(stack=stack) for key, value in each.items() if value}
        for number, each in enumerate(every, 1)
    }


@pytest.fixture
def fleet(project: Project) -> Project:
    """One project with all the stacks."""
    shutil.rmtree(project.folder / "stacks")
    (project.folder / "stacks" / "config").mkdir(parents=True)
    (project.folder / "stacks" / "__main__.py").write_text(PROGRAM)
    for stack in MADE:
        config = {"aws:region": "us-east-1", "plain:tags": tags_of(stack)}
        (project.folder / "stacks" / "config" / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump({"config": config}))
        up = project.rehearse(environment=stack)
        assert up.returncode == 0, up.stdout + up.stderr
    made = state_file(project, MADE[1]).read_text()
    for stack in set(STACKS) - set(MADE):
        content = json.loads(made.replace(f"urn:pulumi:{MADE[1]}::", f"urn:pulumi:{stack}::"))
        for resource in content["checkpoint"]["latest"]["resources"]:
            tags = tags_of(stack).get(resource["urn"].rsplit("::")[-1])
            for side in ("inputs", "outputs") if tags else ():
                resource[side] |= {key: tags for key in ("tags", "tagsAll") if key in resource[side]}
        state_file(project, stack).write_text(json.dumps(content))
    return project


def test_fleet_of_foreign_stray_malformed_and_locked_ones(fleet: Project) -> None:
    """What it would do, line by line; and then only what is certainly due is gone."""
    now = datetime.now(UTC)
    locks = fleet.home.root / "backend" / ".pulumi" / "locks" / "organization" / "gpufleet"
    for stack, since in {"worked-on": now - timedelta(hours=1), "dead-lock": datetime(2026, 10, 2, tzinfo=UTC)}.items():
        (locks / stack).mkdir(parents=True)
        lock = {"pid": 4711, "username": "runner", "hostname": "ci-1", "timestamp": since.isoformat()}
        (locks / stack / "0f.json").write_text(json.dumps(lock))
    state_file(fleet, "cut-off").write_text('{"version": 3, "checkp')
    cluster = {
        "urn": f"urn:pulumi:nonsense::gpufleet::{EKS}::c",
        "type": EKS,
        "custom": True,
        "outputs": ["no mapping"],
    }
    state_file(fleet, "nonsense").write_text(json.dumps({"checkpoint": {"latest": {"resources": [cluster]}}}))
    words = ("--", "gpufleet", "reap", "--grace", "3d", "--keep", "kept")
    dry = fleet.rehearse(*words, "--dry-run", environment="due")
    assert dry.returncode == 1, dry.stdout + dry.stderr
    places = {str(fleet.home.root): "<home>", f"{now - timedelta(hours=1):%Y-%m-%d %H:%M}": "<an hour ago>"}
    days = (now.date() - datetime(2026, 1, 31).date()).days
    said = dry.stdout + dry.stderr
    for place, name in {**places, f" {days} d past its end": " <days> past its end"}.items():
        said = said.replace(place, name)
    said = re.sub(r"\.py:\d+\)", ".py:<line>)", said)
    said = "\n".join(line for line in said.splitlines() if line.startswith(("file:", "gpufleet/", "not read", "Error")))
    if os.environ.get("GPUFLEET_WRITE_GOLDEN"):
        GOLDEN.write_text(f"{said}\n")
    assert f"{said}\n" == GOLDEN.read_text()

    before = held(fleet.cloud)
    done = fleet.rehearse(*words, "--yes", environment="due")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "gpufleet/due, of ana, " in done.stdout
    assert "destroyed: 4 resources, and 0 kept" in done.stdout
    names = {resource.inputs["name"] for resource in fleet.cloud.store.resources("aws:cloudwatch/logGroup:LogGroup")}
    assert {name.split("/")[1] for name in names} == {"billing-db"}
    assert len(held(fleet.cloud)) == len(before) - 4
