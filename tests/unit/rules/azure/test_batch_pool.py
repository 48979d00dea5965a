"""Cases of gpufleet.rules.azure.batch_pool, and of its validation."""

from datetime import date

import pytest

from gpufleet.pools.azure_batch_pool import AzureBatchPool
from gpufleet.rules import Severity, Status
from gpufleet.rules.azure.batch_pool import (
    fixed_nodes,
    no_reservation,
    one_size,
    scaling_argument,
    validate_azure_batch_pool,
)

CASES = {
    one_size: [
        ("one", {"types": ["Standard_NC4as_T4_v3"]}, "pass", ""),
        (
            "none",
            {"types": []},
            "fail",
            (
                "trainers: types=[]: is not exactly one VM size, which a Batch pool has; give one, such as "
                "[Standard_NC4as_T4_v3] [azure-batch-one-size]"
            ),
        ),
        (
            "two",
            {"types": ["Standard_NC4as_T4_v3", "Standard_NC8as_T4_v3"]},
            "fail",
            (
                "trainers: types=[Standard_NC4as_T4_v3, Standard_NC8as_T4_v3]: is not exactly one VM size, which a "
                "Batch pool has; keep one, and make a pool for each other [azure-batch-one-size]"
            ),
        ),
    ],
    no_reservation: [
        ("spot", {"capacity": "spot"}, "pass", ""),
        (
            "reservation",
            {"capacity": "reservation"},
            "fail",
            (
                "trainers: capacity=reservation: Batch does not support capacity reservations; use on-demand or spot, "
                "or a "
                "GPU node group of AKS for the reservation [azure-batch-no-reservation]"
            ),
        ),
    ],
    scaling_argument: [
        ("not-given", {"argument": "desired", "value": None, "scaling": "auto"}, "pass", ""),
        ("fixed", {"argument": "desired", "value": 0, "scaling": "fixed"}, "pass", ""),
        (
            "auto",
            {"argument": "desired", "value": 0, "scaling": "auto"},
            "fail",
            (
                "trainers: desired=0: has no effect with scaling=auto; leave it out, or set scaling=fixed "
                "[azure-batch-scaling-words]"
            ),
        ),
        ("idle-auto", {"argument": "idle_minutes", "value": 5, "scaling": "auto"}, "pass", ""),
        (
            "idle-fixed",
            {"argument": "idle_minutes", "value": 5, "scaling": "fixed"},
            "fail",
            (
                "trainers: idle_minutes=5: has no effect with scaling=fixed; leave it out, or set scaling=auto "
                "[azure-batch-scaling-words]"
            ),
        ),
    ],
    fixed_nodes: [
        ("auto", {"nodes": 4, "scaling": "auto"}, "pass", ""),
        ("none", {"nodes": 0, "scaling": "fixed"}, "pass", ""),
        (
            "one",
            {"nodes": 1, "scaling": "fixed"},
            "fail",
            (
                "trainers: desired=1: nodes are paid for until somebody resizes the pool, and come back with the "
                "next change of the pool; set desired=0 and resize the pool for each job, or use scaling=auto "
                "[azure-batch-fixed-nodes]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


POOL = {"types": ["Standard_NC4as_T4_v3"], "max": 10, "capacity": "spot"}
TODAY = date(2026, 11, 21)


def lines(args: dict[str, object], region: str = "eastus") -> list[str]:
    """What a user sees of a pool that was not simply accepted, without advice."""
    findings = validate_azure_batch_pool(args, region, today=TODAY)
    shown = [each for each in findings if each.status is not Status.PASS and each.severity is not Severity.INFO]
    return [each.line("pool") for each in shown]


def test_the_pool_of_2018_at_todays_size_passes():
    assert lines(POOL) == []


def test_the_command_of_2018_is_refused_with_the_successor_of_its_size():
    """`az batchai cluster create --vm-size Standard_NC6 --vm-priority lowpriority --min 2 --max 2`."""
    assert lines({**POOL, "types": ["Standard_NC6"], "min": 2, "max": 2}) == [
        "pool: types=Standard_NC6: is retired since 2023-09-06; use Standard_NC4as_T4_v3 [azure-size-current]"
    ]


def test_capacities_are_those_that_batch_sells():
    """`--vm-priority lowpriority` is Spot today."""
    assert lines({**POOL, "capacity": "lowpriority"}) == [
        "pool: capacity=lowpriority: is not an allowed value; use on-demand or spot [any-argument-word]"
    ]
    assert lines({**POOL, "capacity": "reservation"}) == [
        "pool: capacity=reservation: Batch does not support capacity reservations; use on-demand or spot, or a GPU "
        "node group of AKS for the reservation [azure-batch-no-reservation]"
    ]


def test_the_storage_of_2018_far_from_its_pool_is_refused():
    mount = {"kind": "blob", "account": "batchai", "container": "scripts", "path": "scripts", "region": "eastus"}
    assert lines({**POOL, "mounts": [mount]}, "westus2") == [
        "pool: mounts[0]=batchai: this storage account lies in eastus, the pool in westus2; use a storage account in "
        "westus2 [azure-storage-near-pool]"
    ]
    assert lines({**POOL, "mounts": [mount]}, "eastus") == []


def test_words_of_aws_are_refused_with_those_that_are_legal():
    found = lines({**POOL, "zones": ["use1-az1"], "placement_group": "g", "network": "efa", "image": "al2023"})
    legal = (
        "capacity, desired, disk_gib, idle_minutes, image, max, min, network, node_agent, scaling, start_command, "
        "task_nodes or types"
    )
    assert found == [
        f"pool: zones=[use1-az1]: unknown argument; remove it, or use {legal} [any-argument-known]",
        f"pool: placement_group=g: unknown argument; remove it, or use {legal} [any-argument-known]",
        "pool: network=efa: is not an allowed value; use plain or infiniband [any-argument-word]",
        "pool: image=al2023: is neither a marketplace image nor an image id; use canonical:ubuntu-24_04-lts:server, "
        "microsoft-dsvm:ubuntu-hpc:2204 or microsoft-dsvm:ubuntu-hpc:2404, another publisher:offer:sku, or the id of "
        "an image in a compute gallery [azure-batch-image-agent]",
    ]


def test_every_fault_at_once_and_each_once():
    found = lines({"types": [], "min": 5, "max": 3, "scaling": "auto", "idle_minutes": 1, "task_nodes": 4, "mni": 1})
    assert [line.rpartition("[")[2] for line in found] == [
        "any-argument-known]",
        "azure-batch-one-size]",
        "any-count-min-max]",
        "azure-batch-idle-window]",
        "azure-batch-task-fits]",
    ]


def test_nodes_that_talk_are_at_most_100():
    wide = {"types": ["Standard_ND96isr_H100_v5"], "network": "infiniband", "task_nodes": 16}
    assert lines({**wide, "max": 80}) == []
    assert [line.partition(":")[2].partition(":")[0] for line in lines({**wide, "max": 101})] == [" max=101"]
    assert "not verified" in lines({**wide, "max": 100})[0]
    assert lines({**wide, "task_nodes": 1, "max": 500}) == []


def test_infiniband_needs_size_and_image():
    found = lines({**POOL, "network": "infiniband", "image": "canonical:ubuntu-24_04-lts:server"})
    rules = [line.rpartition("[")[2] for line in found]
    assert rules == ["azure-infiniband-supported]", "azure-batch-image-infiniband]", "azure-batch-image-driver]"]


def test_containers_need_an_image_that_runs_them():
    bare = {**POOL, "image": "canonical:ubuntu-24_04-lts:server:latest", "registry_servers": [object()]}
    assert [line.rpartition("[")[2] for line in lines(bare)] == [
        "azure-batch-image-docker]",
        "azure-batch-image-driver]",
    ]


def test_a_fixed_pool_is_judged_without_a_formula():
    fixed = {**POOL, "scaling": "fixed"}
    assert lines({**fixed, "desired": 0}) == []
    assert [line.rpartition("[")[2] for line in lines({**fixed, "desired": 11, "task_nodes": 11})] == [
        "any-count-desired]",
        "azure-batch-task-fits]",
        "azure-capacity-spot-mpi]",
    ]
    assert lines({**fixed, "scaling": "auot"}) == [
        "pool: scaling=auot: is not an allowed value; did you mean auto? (use auto or fixed) [any-argument-word]"
    ]


def test_an_image_that_ends_within_a_year_is_told():
    found = lines({**POOL, "image": "microsoft-dsvm:ubuntu-hpc:2204"})
    assert [line.rpartition("[")[2] for line in found] == ["azure-batch-image-ends]"]


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, object(), True, -1.5])
def test_the_door_never_raises(value):
    for word in (*AzureBatchPool.__annotations__, "mounts", "registry_servers", "container_images"):
        assert validate_azure_batch_pool({**POOL, word: value}, "eastus")
    assert validate_azure_batch_pool({}, "")
