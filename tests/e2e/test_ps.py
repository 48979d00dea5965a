"""Whose aws-dev is, what it costs, and no GPU nodes for a while: ps, stop and extend on the real engine."""

import json
from datetime import date, timedelta
from typing import Any

import yaml

from tests.e2e.rehearsed_project import Project

GROUP = "aws:eks/nodeGroup:NodeGroup"
TRAINERS = "aws-dev-trainers-nodes"


def listed(project: Project) -> dict[str, Any]:
    """The one stack that `gpufleet ps` finds, after it has shown no secret."""
    found = project.rehearse("--", "gpufleet", "ps", "--json")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "ciphertext" not in found.stdout
    (environment,) = json.loads(found.stdout)["environments"]
    return dict(environment)


def sizes(project: Project) -> tuple[int, int, int]:
    """min, desired and max of the trainers' node group, in the cloud."""
    (group,) = [each for each in project.cloud.store.resources(GROUP) if each.name == TRAINERS]
    config = group.view["scalingConfig"]
    return config["minSize"], config["desiredSize"], config["maxSize"]


def by_the_hours(project: Project) -> dict[str, tuple[int, int]]:
    """min and max from each moment of the week on, in the cloud."""
    found = project.cloud.store.resources("aws:autoscaling/schedule:Schedule")
    return {each.view["recurrence"]: (each.view["minSize"], each.view["maxSize"]) for each in found}


def autoscale(project: Project, nodes: int) -> None:
    """What the cluster's autoscaler does: it gives the group nodes, and nobody tells the engine."""
    store = project.cloud.store
    (group,) = [each for each in store.resources(GROUP) if each.name == TRAINERS]
    scaled = {"scalingConfig": {**group.view["scalingConfig"], "desiredSize": nodes}}
    with store.transaction():
        store.change(group, inputs={**group.inputs, **scaled}, outputs={**group.outputs, **scaled})


def test_whose_it_is_stopped_started_and_extended(project: Project) -> None:
    ended = date.today() - timedelta(days=3)
    project.configure(lambda config: config.update(expires_at=ended))
    evenings, mornings = {"at": "20:00", "max": 0}, {"at": "07:30", "days": ["mon", "tue"]}
    project.configure(lambda config: config["pools"]["trainers"].update(min=1, schedule=[evenings, mornings]))
    up = project.rehearse()
    assert up.returncode == 0, up.stdout + up.stderr
    before = listed(project)
    assert (before["stack"], before["project"], before["owner"]) == ("aws-dev", "gpufleet", "platform-team")
    assert (before["expires"], before["expired"]) == (str(ended), True)
    assert before["gpus"] == {"now": None, "at_last_update": 1, "at_most": 2}
    cost = json.loads(project.run("cost", "aws-dev", "--json").stdout)["totals"]
    for figure, found in before["usd_per_hour"].items():
        assert found["usd"] == cost[figure]["usd_per_hour"], figure

    # A dry run changes nothing and names the control plane; the pool's own nodes are not among what is left.
    autoscale(project, 2)
    dry = project.rehearse("--", "gpufleet", "stop", "aws-dev", "--dry-run")
    assert dry.returncode == 0, dry.stdout + dry.stderr
    assert "would be stopped: aws-dev-trainers-nodes" in dry.stdout
    assert "g5.8xlarge" not in dry.stdout
    assert sizes(project) == (1, 2, 2)

    # What has become illegal since, by a day that has passed or another hand, waits for the next ordinary `up`.
    ended_suppression = {"rule": "any-capacity-spot-choice", "reason": "once", "expires": "2026-01-31"}
    budget = {"usd_per_month": 0, "emails": ["platform-team@example.com"]}
    project.configure(lambda config: config.update(suppress=[ended_suppression], budget=budget))
    assert "config-suppression" in project.rehearse().stdout
    # Nodes that the autoscaler has started go too, and what is left is what the dry run said.
    stopped = project.rehearse("--", "gpufleet", "stop", "aws-dev", "--yes")
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    # What is wrong in the checkout is not even looked at: its program is not run.
    assert "any-budget-limit" not in stopped.stdout + stopped.stderr
    assert sizes(project) == (0, 0, 2)
    project.configure(lambda config: config.update(suppress=[], budget={**budget, "usd_per_month": 2000}))
    # And no morning starts them again.
    assert by_the_hours(project) == {"0 20 * * *": (0, 0), "30 7 * * 1,2": (0, 0)}
    left = [line for line in stopped.stdout.splitlines() if line.startswith(("still costs", "  $"))]
    assert left == [line for line in dry.stdout.splitlines() if line.startswith(("still costs", "  $"))]
    after = listed(project)
    assert after["gpus"]["at_last_update"] == 0
    assert f"still costs ${after['usd_per_hour']['floor']['usd']:,.3f}/h" in stopped.stdout
    assert after["notes"] == ["stopped: aws-dev-trainers; `gpufleet stop aws-dev --undo` starts them again"]

    # Back again, with the nodes that the configuration says: EKS would refuse a minimum of 1 over none.
    undone = project.rehearse("--", "gpufleet", "stop", "aws-dev", "--undo")
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert sizes(project) == (1, 1, 2)
    assert by_the_hours(project) == {"0 20 * * *": (0, 0), "30 7 * * 1,2": (1, 2)}
    assert listed(project)["notes"] == []
    # And only what is stopped is started: the autoscaler's nodes stay.
    autoscale(project, 2)
    twice = project.rehearse("--", "gpufleet", "stop", "aws-dev", "--undo")
    assert (twice.returncode, twice.stderr) == (1, "Error: aws-dev: none of its GPU pools is stopped\n")
    assert sizes(project) == (1, 2, 2)

    # A later end: in the file at once, in the tags by the next `up`.
    extended = project.run("extend", "aws-dev", "7d")
    assert extended.returncode == 0, extended.stdout + extended.stderr
    wanted = date.today() + timedelta(days=7)
    file = project.folder / "stacks" / "config" / "Pulumi.aws-dev.yaml"
    assert yaml.safe_load(file.read_text())["config"]["gpufleet:expires_at"] == wanted
    assert listed(project)["expired"] is True
    assert project.rehearse().returncode == 0
    again = listed(project)
    assert (again["expires"], again["expired"]) == (str(wanted), False)


def test_program_that_does_not_listen_is_stopped_all_the_same(project: Project) -> None:
    assert project.rehearse().returncode == 0
    run, own = "run_program(Path(__file__).parent)", 'runpy.run_path(str(Path(__file__).with_name("aws.py")))'
    project.edit("stacks/__main__.py", run, f"import runpy\n\n{own}")
    told = project.home.engine("aws-dev").outputs("aws-dev", secrets=True)
    stopped = project.rehearse("--", "gpufleet", "stop", "aws-dev", "--yes")
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    assert sizes(project) == (0, 0, 2)
    # The kubeconfig, a secret, is as it was.
    assert project.home.engine("aws-dev").outputs("aws-dev", secrets=True) == told
    assert project.home.engine("aws-dev").outputs("aws-dev")["kubeconfig"] == "[secret]"
