"""Several teams on one cluster: a namespace, volume, queue and quota each, and their own pools' tag and budget."""

from functools import cache

import pytest

from gpufleet.jobs.settings import read_settings
from tests.unit.stacks import azure_stack
from tests.unit.stacks.aws_environment import POOL, program

BUDGET = {"usd_per_month": 4000, "emails": ["vision@example.com"]}
USERS = {"ana": {"uid": 1501, "gid": 1501}}
SHARED = POOL | {"max": 2}
TEAMS = {
    "vision": {"quota": {"near": 8, "own": 16}, "pools": ["own"], "budget": BUDGET, "users": USERS, "gid": 3000},
    "speech": {"quota": {"near": 8}},
}
POOLS = {"near": SHARED, "own": SHARED}
EVERYTHING = {"pools": POOLS, "queue": {"lend": True}, "teams": TEAMS, "files": {"access_point": False}}


@cache
def everything():
    return program(**EVERYTHING)


@pytest.fixture
def made():
    return everything()


def kind(made, name):
    return {each.name: each.inputs for each in made.resources if each.type.endswith(f":{name}")}


def test_a_namespace_and_a_claim_each(made):
    namespaces = {name: each for name, each in kind(made, "Namespace").items() if name.startswith("dev-team")}
    assert sorted(namespaces) == ["dev-team-speech-namespace", "dev-team-vision-namespace"]
    labels = namespaces["dev-team-vision-namespace"]["metadata"]["labels"]
    assert (labels["gpufleet.dev/environment"], labels["gpufleet.dev/team"]) == ("dev", "vision")
    claims = [each["metadata"]["namespace"] for each in kind(made, "PersistentVolumeClaim").values()]
    assert sorted(claims) == ["speech", "vision"]
    volumes = [each["metadata"]["name"] for each in kind(made, "PersistentVolume").values()]
    assert sorted(volumes) == ["speech-shared", "vision-shared"]


def test_a_quota_each_and_idle_ones_are_lent(made):
    queues = kind(made, "ClusterQueue")
    gpus = {
        name: {each["name"]: each["resources"][0]["nominalQuota"] for each in spec["resourceGroups"][0]["flavors"]}
        for name, inputs in queues.items()
        for spec in [inputs["spec"]]
    }
    assert gpus == {
        "dev-queue-quota-vision": {"dev-queue-near": "8", "dev-queue-own": "16", "dev-queue-cpu": "0"},
        "dev-queue-quota-speech": {"dev-queue-near": "8", "dev-queue-own": "0", "dev-queue-cpu": "0"},
    }
    assert {each["spec"]["cohortName"] for each in queues.values()} == {"dev-queue"}
    local = {each["metadata"]["namespace"]: each["spec"]["clusterQueue"] for each in kind(made, "LocalQueue").values()}
    assert local == {"vision": "dev-queue-vision", "speech": "dev-queue-speech"}
    alone = kind(program(**EVERYTHING | {"queue": {}}), "ClusterQueue")
    assert not any("cohortName" in each["spec"] for each in alone.values())


def test_the_own_pools_nodes_and_the_budget_have_one_tag(made):
    assert made.one("aws:eks/nodeGroup:NodeGroup", "dev-own-nodes").inputs["tags"]["team"] == "dev.vision"
    assert "team" not in made.one("aws:eks/nodeGroup:NodeGroup", "dev-near-nodes").inputs["tags"]
    budget = made.one("aws:budgets/budget:Budget").inputs
    assert budget["costFilters"] == [{"name": "TagKeyValue", "values": ["user:team$dev.vision"]}]
    assert budget["limitAmount"] == "4000"


def test_instances_have_it_too_because_they_are_what_is_paid_for(made):
    template = made.one("aws:ec2/launchTemplate:LaunchTemplate", "dev-own-template").inputs
    tags = {each["resourceType"]: each["tags"].get("team") for each in template["tagSpecifications"]}
    assert tags["instance"] == "dev.vision"


def test_the_first_job_says_whose_it_is(made):
    said = (
        "gpufleet images build dev --team vision examples/train && gpufleet jobs submit dev --team vision --pool near "
        "--workers 2 --follow -- python3 train.py --synthetic"
    )
    assert made.result["first_job"] == said


def test_jobs_are_told_of_their_teams_own(made):
    outputs = {"kubeconfig": "{}", "jobs": made.result["jobs"]}
    vision, speech = (read_settings(outputs, "dev", team=team) for team in ("vision", "speech"))
    assert (vision.namespace, vision.team, vision.project, list(vision.users)) == (
        "vision",
        "vision",
        "training",
        ["ana"],
    )
    assert vision.users["ana"].groups == (3000,)
    assert (list(vision.pools), list(speech.pools)) == (["near", "own"], ["near"])
    assert speech.users == {}


def test_faults_of_all_teams_are_said_before_anything_is_made():
    teams = {
        "vision": {"quota": {"nera": 1, "near": 20}, "users": USERS, "budget": BUDGET},
        "Speech": {"users": {"eve": {"uid": 1501, "gid": 0}}},
    }
    lines = program.refusal(pools=POOLS, queue={}, teams=teams, team={"namespace": "x"})
    assert [line.rpartition("[")[2].rstrip("]") for line in lines] == [
        "any-users-access-point",
        "any-teams-or-team",
        "any-argument-word",
        "any-teams-budget",
        "any-teams-quota-queue",
        "any-teams-quota-sum",
        "any-user-distinct",
        "any-kubernetes-name",
        "any-user-id",
        *["any-kubernetes-name"] * 2,
    ]
    assert lines[2] == (
        "dev: teams.vision.quota=nera: is not an allowed value; did you mean near? (use near or own)"
        " [any-argument-word]"
    )


def test_azure_has_the_same():
    teams = {"vision": {"pools": ["trainers"], "budget": BUDGET}, "speech": {}}
    made = azure_stack.program(teams=teams, team=None)
    pool = made.one("azure-native:containerservice:AgentPool", "dev-trainers-nodes").inputs
    assert pool["tags"]["team"] == "dev.vision"
    budget = made.one("azure-native:consumption:Budget").inputs
    counted = {each["tags"]["name"]: each["tags"]["values"] for each in budget["filter"]["and"]}
    assert counted["team"] == ["dev.vision"]
    # Of this stack alone: another one may have a team and an environment of these names.
    assert {key: [pool["tags"][key]] for key in counted} == counted
    assert set(counted) == {"gpufleet-stack", "environment", "project", "owner", "team"}
    assert {"dev-team-speech-namespace", "dev-team-vision-namespace"} <= set(kind(made, "Namespace"))
