"""Pools without nodes: what each kind is made of, and what costs money all the same."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.cost.estimate import estimate
from gpufleet.fleet.environment import environment_of, plan_of_state
from gpufleet.fleet.gpu_jobs import GpuJob
from gpufleet.fleet.pool_inputs import can_stop, is_stopped, stopped_inputs
from gpufleet.fleet.scale_to_zero import flavors_of, gpu_pools, remaining_costs, unchanged_pools
from gpufleet.fleet.stack_state import StackState
from gpufleet.fleet.state_program import STATE
from gpufleet.pulumi_cli import PulumiCli

SIZES = {"minSize": 1, "desiredSize": 2, "maxSize": 4}
GPU = {"effect": "NO_SCHEDULE", "key": "nvidia.com/gpu", "value": "present"}
STOPPED = {"key": "gpufleet.dev/stopped", "value": "true", "effect": "NO_SCHEDULE"}
FLAVOR = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"
RENTED = {"gpufleet.dev/pool": "dev-trainers", "gpufleet.dev/place": "cloud"}
ON_GPUS = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
ZERO = {"fixedScale": {"targetLowPriorityNodes": 0, "targetDedicatedNodes": 0}}
CASES = {
    "aws:eks/nodeGroup:NodeGroup": (
        {"labels": {"a": "b"}, "scalingConfig": SIZES, "taints": [GPU]},
        {
            "labels": {"a": "b"},
            "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 4},
            "taints": [GPU, STOPPED],
        },
    ),
    "aws:batch/computeEnvironment:ComputeEnvironment": (
        {"state": "ENABLED", "computeResources": {"minVcpus": 8, "maxVcpus": 32}},
        {"state": "DISABLED", "computeResources": {"minVcpus": 0, "maxVcpus": 32}},
    ),
    "aws:autoscaling/schedule:Schedule": (
        {"recurrence": "30 7 * * 1", "minSize": 1, "maxSize": 4, "desiredCapacity": -1},
        {"recurrence": "30 7 * * 1", "minSize": 0, "maxSize": 0, "desiredCapacity": -1},
    ),
    "azure-native:containerservice:AgentPool": (
        {"count": 1, "enableAutoScaling": True, "minCount": 1, "maxCount": 4, "vmSize": "x"},
        {"count": 0, "enableAutoScaling": False, "vmSize": "x"},
    ),
    "azure-native:containerservice/v20240801:AgentPool": ({"count": 3}, {"count": 0, "enableAutoScaling": False}),
    FLAVOR: (
        {"metadata": {"name": "rented"}, "spec": {"nodeLabels": RENTED, "nodeTaints": [ON_GPUS]}},
        {
            "metadata": {"name": "rented"},
            "spec": {
                "nodeLabels": RENTED,
                "nodeTaints": [ON_GPUS, {"key": "gpufleet.dev/stopped", "value": "true", "effect": "NoSchedule"}],
            },
        },
    ),
    "azure-native:batch:Pool": ({"scaleSettings": {"autoScale": {"formula": "f"}}}, {"scaleSettings": ZERO}),
}


@pytest.mark.parametrize("kind", CASES)
def test_stopped_pool_has_no_node_and_is_known_as_such(kind: str) -> None:
    before, after = CASES[kind]
    assert can_stop(kind)
    assert not is_stopped(kind, before)
    assert stopped_inputs(kind, before) == after
    assert is_stopped(kind, after)
    assert stopped_inputs(kind, after) == after


@pytest.mark.parametrize(
    "kind",
    [
        "aws:autoscaling/group:Group",
        "azure-native:compute:VirtualMachineScaleSet",
        "batch:Pool",
        "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue",
    ],
)
def test_other_pools_are_not_touched(kind: str) -> None:
    assert not can_stop(kind)
    with pytest.raises(KeyError):
        stopped_inputs(kind, {})


@pytest.mark.parametrize("kind", CASES)
def test_pool_of_another_program_without_its_number_is_not_stopped(kind: str) -> None:
    assert not is_stopped(kind, {})


Eks = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize(
    ("words", "found"),
    [("labels", ["rented"]), ("nodeLabels", ["rented"]), ("tags", [])],
    ids=["eks", "aks", "neither"],
)
def test_flavor_of_a_stopped_pool_is_known_by_the_label_of_its_nodes(
    eks: Eks, resource: Callable[..., dict[str, Any]], words: str, found: list[str]
) -> None:
    resources = eks("dev")
    resources[2]["inputs"][words] = RENTED
    for name, pool in [("rented", {"gpufleet.dev/pool": "dev-trainers"}), ("own", {"gpufleet.dev/pool": "dev-v100"})]:
        resources.append(resource("dev", FLAVOR, name, {"spec": {"nodeLabels": pool}}))
    resources.append(resource("dev", FLAVOR, "any", {"spec": {"nodeLabels": {"gpufleet.dev/place": "cloud"}}}))
    resources.append(resource("dev", FLAVOR, "launchers", {"spec": {}}))
    plan = plan_of_state(StackState("dev", "training", resources))
    pools, _ = gpu_pools(plan)
    assert [each.name for each in flavors_of(plan, pools)] == found
    assert flavors_of(plan, []) == []


def test_control_plane_still_costs_and_the_pool_does_not(eks: Eks) -> None:
    plan = plan_of_state(StackState("dev", "training", eks("dev")))
    (pool,), others = gpu_pools(plan)
    assert (pool.resource.name, others) == ("trainers", [])
    lines = remaining_costs(estimate(plan, None, date(2026, 11, 21)), [pool])
    assert [(name, line.resources) for name, line in lines] == [("", ("cluster",))]


def test_nodes_that_are_reserved_cost_all_the_same(eks: Eks) -> None:
    resources = eks("dev")
    resources[2]["inputs"]["capacityType"] = "CAPACITY_BLOCK"
    plan = plan_of_state(StackState("dev", "training", resources))
    (pool,), _ = gpu_pools(plan)
    lines = remaining_costs(estimate(plan, None, date(2026, 11, 21)), [pool])
    assert [line.what for name, line in lines if name] == ["nodes: g5.12xlarge"]


def test_pool_that_no_up_stops_is_told_apart(eks: Eks, resource: Callable[..., dict[str, Any]]) -> None:
    machine = resource("dev", "aws:ec2/instance:Instance", "box", {"instanceType": "g5.xlarge"})
    pools, others = gpu_pools(plan_of_state(StackState("dev", "training", [*eks("dev"), machine])))
    assert ([each.resource.name for each in pools], [each.resource.name for each in others]) == (["trainers"], ["box"])


def test_what_an_up_has_left_as_it_was_is_named(eks: Eks) -> None:
    resources = eks("dev")
    before = plan_of_state(StackState("dev", "training", resources))
    pools, _ = gpu_pools(before)
    assert unchanged_pools(before, pools, stop=True) == ["trainers"]
    assert unchanged_pools(before, pools, stop=False) == []
    node_group = resources[2]
    node_group["inputs"] = stopped_inputs(node_group["type"], node_group["inputs"])
    state = StackState("dev", "training", resources)
    assert unchanged_pools(plan_of_state(state), pools, stop=True) == []
    notes = environment_of(state, date(2026, 11, 21)).notes
    assert notes == ("stopped: trainers; `gpufleet stop dev --undo` starts them again",)


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`gpufleet stop dev --dry-run` on a stack of these resources, with this configuration and without outputs."""

    def run(resources: list[dict[str, Any]], *words: str, **config: object) -> Result:
        monkeypatch.setattr(PulumiCli, "state", lambda self, stack: resources)
        monkeypatch.setattr(PulumiCli, "config", lambda self, stack: {f"gpufleet:{key}": config[key] for key in config})
        monkeypatch.setattr(PulumiCli, "outputs", lambda self, stack, *, secrets: {})
        return CliRunner().invoke(main, ["stop", "dev", "--dry-run", *words])

    return run


def test_own_servers_are_said_to_run_on_and_to_cost_by_the_assumptions(
    stop: Callable[..., Result], hybrid: Eks
) -> None:
    lines = stop(hybrid("dev"), usage={"own_server_vcpus": 100}).output.splitlines()
    # 100 x 0.02 USD, and the control plane.
    assert lines == [
        "would be stopped: trainers",
        "which jobs run on them is not known: the stack's outputs have no kubeconfig; run `pulumi up -s dev` first",
        "still costs $2.100/h, $1,533.00 a month (list prices):",
        "  $  2.000/h  on-prem servers' vCPUs (EKS hybrid nodes) (servers)",
        "  $  0.100/h  EKS control plane (cluster)",
        "own servers are not stopped, nor the jobs on them",
    ]
    lines = stop(hybrid("dev"), usage="lots").output.splitlines()
    assert "1 line of which no price or amount is known" in lines[2]
    assert lines[-2] == "its assumptions (gpufleet:usage) cannot be read: the defaults count"


def test_stop_as_json(stop: Callable[..., Result], hybrid: Eks, monkeypatch: pytest.MonkeyPatch) -> None:
    done = stop(hybrid("dev"), "--json", usage={"own_server_vcpus": 100})
    assert done.exit_code == 0
    lines = [
        {
            "pool": None,
            "what": "on-prem servers' vCPUs (EKS hybrid nodes)",
            "usd_per_month": 1460.0,
            "committed": False,
        },
        {"pool": None, "what": "EKS control plane", "usd_per_month": 73.0, "committed": False},
    ]
    assert json.loads(done.stdout) == {
        "schema": 1,
        "environment": "dev",
        "action": "stop",
        "pools": ["trainers"],
        # Not known is not none.
        "jobs": None,
        "still_costs": {"usd_per_month": 1533.0, "unknown_lines": 0, "lines": lines},
        "changed": False,
        "queue": True,
        "not_stopped": [],
    }
    assert done.stderr.splitlines()[0] == "would be stopped: trainers"
    assert done.stderr.splitlines()[-1] == "own servers are not stopped, nor the jobs on them"
    job = GpuJob("training", "first", 8, 1, datetime(2026, 11, 21, tzinfo=UTC), user="ana")
    monkeypatch.setattr(sys.modules["gpufleet.cli.stop"], "settings_of", lambda *_, **__: None)
    monkeypatch.setattr("gpufleet.fleet.pool_jobs.jobs_on_pools", lambda *_: [job])
    names = {"namespace": "training", "name": "first", "user": "ana"}
    found = json.loads(stop(hybrid("dev"), "--json").stdout)["jobs"]
    assert found == [{**names, "gpus": 8, "may_finish": False}]


def test_own_cluster_has_nothing_to_stop_but_gpus(stop: Callable[..., Result], onprem: Eks, eks: Eks) -> None:
    found = stop(onprem("dev"))
    assert (found.exit_code, found.output) == (
        1,
        "Error: dev: its GPUs are in own servers, which are not stopped; `gpufleet jobs cancel` ends a job\n",
    )
    found = stop(eks("dev")[:2])
    assert (found.exit_code, found.output) == (
        1,
        "Error: dev: has no GPU pool; `gpufleet ps` lists what there is\n",
    )
    assert "own servers" not in stop(eks("dev")).output


def test_queue_that_cannot_be_told_keeps_no_pool_running_and_is_told_the_next_time(
    monkeypatch: pytest.MonkeyPatch, eks: Eks, resource: Callable[..., dict[str, Any]]
) -> None:
    """The engine is played, while the cluster is away: it does what the program of the state says to stop pools, and
    what the checkout's program says to start them."""
    resources = [*eks("dev"), resource("dev", FLAVOR, "rented", {"spec": {"nodeLabels": RENTED}})]
    resources[2]["inputs"]["labels"] = RENTED
    as_written = {each["urn"]: each["inputs"] for each in resources}
    ups: list[tuple[str, list[str], tuple[str, ...]]] = []
    answers = [False]

    def up(engine: PulumiCli, stack: str, *options: str) -> int:
        (variable,) = {STATE, "GPUFLEET_START"} & engine.environment.keys()
        inputs, names = as_written, engine.environment[variable].splitlines()
        if variable == STATE:
            program = json.loads(Path(engine.environment[STATE]).read_text())
            assert [each["urn"] for each in program["resources"]] == [each["urn"] for each in resources]
            inputs, names = program["inputs"], [urn.rsplit("::")[-1] for urn in program["inputs"]]
        targets = [each for each in resources if each["urn"] in options]
        ups.append((variable, names, tuple(each for each in options if not each.startswith("urn:"))))
        if any(each["type"] == FLAVOR for each in targets) and not answers[0]:
            return 255
        for each in targets:
            each["inputs"] = inputs[each["urn"]]
        return 0

    def export(engine: PulumiCli, *words: str) -> str:
        assert words == ("stack", "export", "--stack", "dev", "--show-secrets")
        return json.dumps({"deployment": {"resources": resources}})

    monkeypatch.setattr(PulumiCli, "state", lambda self, stack: resources)
    monkeypatch.setattr(PulumiCli, "config", lambda self, stack: {})
    monkeypatch.setattr(PulumiCli, "up", up)
    monkeypatch.setattr(PulumiCli, "output_of", export)
    monkeypatch.setattr(PulumiCli, "outputs", lambda self, stack, *, secrets: {})

    def run(*words: str) -> tuple[int, str, str]:
        ups.clear()
        done = CliRunner().invoke(main, ["stop", "dev", *words])
        return done.exit_code, done.stdout.splitlines()[-1] if done.stdout else "", done.stderr

    so = "a job may be given to a stopped pool"
    told = f"Error: rented: its `up` failed, for the reason above, so {so}; run this again\n"
    assert run()[0] == 1
    assert ups == []
    assert run("--yes") == (1, "stopped: trainers", told)
    assert ups == [
        (STATE, ["trainers"], ("--refresh", "--target")),
        (STATE, ["rented"], ("--target",)),
    ]
    answers[0] = True
    assert run("--yes") == (0, "stopped: trainers; its queue gives them to no job", "")
    answers[0] = False
    told = told.replace(so, "no job is given to a pool that runs again")
    assert run("--undo") == (1, "started: trainers", told)
    answers[0] = True
    assert run("--undo") == (0, "started: none", "")
    assert ups == [("GPUFLEET_START", ["rented"], ("--target",))]
    assert run("--undo") == (1, "", "Error: dev: none of its GPU pools is stopped\n")
    assert {each["urn"]: each["inputs"] for each in resources} == as_written
