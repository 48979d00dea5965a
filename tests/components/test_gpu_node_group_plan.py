"""The plan of a pool: invariants over random intents, so that no combination gets both or neither of a pair."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.aws.gpu_node_group_plan import GpuNodeGroupPlan, plan_gpu_node_group
from gpufleet.aws.user_data import HUGE_PAGES
from gpufleet.catalog import aws
from gpufleet.pools.eks_pool import EksPool, Taint
from gpufleet.pools.node_labels import kubernetes_taints
from tools.kubernetes.empty_group import made_up_node

TYPES = sorted(aws().types)
WITH_EFA = sorted(name for name, record in aws().types.items() if record.efa_interfaces)
ZONES = ["use1-az1", "use1-az2", "use1-az4"]


@st.composite
def pools(draw: st.DrawFn) -> EksPool:
    """Random intents, near enough to what the rules let pass for a plan to exist."""
    network = draw(st.sampled_from(["plain", "efa"]))
    capacity = draw(st.sampled_from(["on-demand", "spot", "reservation", "capacity-block"]))
    placement = draw(st.sampled_from(["none", "create", "existing"]))
    reserved = capacity in ("reservation", "capacity-block")
    several = 3 if capacity == "spot" and network == "plain" else 1
    known = WITH_EFA if network == "efa" else TYPES
    most = draw(st.integers(1, 1000))
    least = draw(st.integers(0, most))
    pool: dict[str, object] = {
        "types": draw(st.lists(st.sampled_from(known), min_size=1, max_size=several, unique=True)),
        "min": least,
        "desired": draw(st.integers(least, most)),
        "max": most,
        "zones": draw(st.lists(st.sampled_from(ZONES), min_size=1, max_size=3, unique=True)),
        "placement": placement,
        "capacity": capacity,
        "network": network,
        "image": draw(st.sampled_from(["al2023", "bottlerocket", "ami-0123456789abcdef0"])),
        "disk_gib": draw(st.integers(20, 16384)),
        "public_addresses": draw(st.booleans()),
    }
    if placement == "existing":
        pool["placement_group"] = "theirs"
    if reserved:
        pool["reservation_id"] = "cr-0123456789abcdef0"
    return cast(EksPool, pool)


@given(pool=pools())
def test_plan_instance_types_are_on_the_group_or_in_the_template_never_both(pool: EksPool) -> None:
    plan = plan_gpu_node_group("p", pool)
    assert (plan.api_types is None) is (pool["capacity"] == "capacity-block")
    assert (plan.template_type is None) is not (plan.api_types is None)
    assert (plan.api_types or [plan.template_type]) == pool["types"]


@given(pool=pools())
def test_plan_interfaces_are_named_when_fabric_or_public_address_needs_them(pool: EksPool) -> None:
    plan = plan_gpu_node_group("p", pool)
    assert bool(plan.interfaces) is (pool["network"] == "efa" or pool["public_addresses"])
    fabric = sum(each.kind in ("efa", "efa-only") for each in plan.interfaces)
    announced = plan.resource_tags.get("k8s.io/cluster-autoscaler/node-template/resources/vpc.amazonaws.com/efa", "0")
    assert str(fabric) == announced
    assert fabric == (aws().types[pool["types"][0]].efa_interfaces if pool["network"] == "efa" else 0)


@given(pool=pools())
def test_plan_own_image_goes_to_the_template_and_eks_images_do_not(pool: EksPool) -> None:
    plan = plan_gpu_node_group("p", pool)
    assert (plan.ami_type == "CUSTOM") is (plan.image_id is not None)
    assert plan.ami_type == "CUSTOM" or plan.ami_type.endswith("_NVIDIA")


@given(pool=pools())
def test_plan_has_one_disk_of_the_asked_size(pool: EksPool) -> None:
    disks = plan_gpu_node_group("p", pool).disks
    assert [size for size in disks.values() if size is not None] == [pool["disk_gib"]]


@given(pool=pools(), least=st.integers(0, 9), most=st.integers(9, 1000))
def test_plan_numbers_change_nothing_but_the_numbers(pool: EksPool, least: int, most: int) -> None:
    def rest(plan: GpuNodeGroupPlan) -> dict[str, object]:
        sizes = ("min_size", "desired_size", "max_size")
        return {key: value for key, value in vars(plan).items() if key not in sizes}

    other = cast(EksPool, {**pool, "min": least, "desired": least, "max": most})
    assert rest(plan_gpu_node_group("p", other)) == rest(plan_gpu_node_group("p", pool))


@given(pool=pools())
def test_plan_depends_on_nothing_but_the_intent(pool: EksPool) -> None:
    assert plan_gpu_node_group("p", pool) == plan_gpu_node_group("p", pool)


TAINTS: list[Taint] = [
    {"key": "team", "value": "vision", "effect": "NO_EXECUTE"},
    {"key": "empty", "value": "", "effect": "NO_SCHEDULE"},
    {"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"},
]


@given(pool=pools(), taints=st.lists(st.sampled_from(TAINTS), unique_by=lambda taint: taint["key"]))
def test_autoscaler_knows_of_an_empty_pool_all_that_its_nodes_have(pool: EksPool, taints: list[Taint]) -> None:
    plan = plan_gpu_node_group("p", {**pool, "taints": taints})
    records = [aws().types[name] for name in plan.types]
    for first in records:  # Which type EKS puts first is EKS's choice.
        known = made_up_node(
            first,
            zone_id=plan.zones[0],
            region="us-east-1",
            group="p",
            labels=plan.labels,
            taints=plan.taints,
            tags=plan.resource_tags,
            scaling_tags=plan.taint_tags,
        )
        assert known["metadata"]["labels"].items() >= plan.labels.items()
        seen = {f"{each['key']}={each['value']}:{each['effect']}" for each in known["spec"]["taints"]}
        assert seen == {f"{key}={rest}" for key, rest in kubernetes_taints(plan.taints).items()}
        resources = known["status"]["allocatable"]
        assert resources["nvidia.com/gpu"] == str(min(record.gpus for record in records))
        efa = plan.network == "efa"
        assert resources.get("vpc.amazonaws.com/efa") == (str(first.efa_interfaces) if efa else None)
        assert resources.get("hugepages-2Mi") == (f"{2 * HUGE_PAGES}Mi" if efa else None)


def test_mixed_pool_promises_the_fewest_gpus() -> None:
    plan = plan_gpu_node_group(
        "p", {"types": ["g5.48xlarge", "g5.xlarge", "g5.12xlarge"], "max": 1, "zones": ["use1-az1"]}
    )
    assert plan.resource_tags == {"k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu": "1"}


@pytest.mark.parametrize(
    ("capacity", "word"),
    [
        ("on-demand", "ON_DEMAND"),
        ("spot", "SPOT"),
        ("reservation", "ON_DEMAND"),
        ("capacity-block", "CAPACITY_BLOCK"),
    ],
)
def test_capacity_in_the_words_of_eks(capacity: str, word: str) -> None:
    pool: EksPool = {"types": ["p5.48xlarge"], "max": 1, "zones": ["use1-az1"], "capacity": capacity}
    assert plan_gpu_node_group("p", pool).capacity_type == word


def test_given_labels_win() -> None:
    labels = {"gpufleet.dev/pool": "mine", "team": "vision"}
    pool: EksPool = {"types": ["p5.48xlarge"], "max": 1, "zones": ["use1-az1"], "labels": labels}
    assert plan_gpu_node_group("p", pool).labels.items() >= labels.items()


def test_given_gpu_taint_takes_the_place_of_ours() -> None:
    taint: Taint = {"key": "nvidia.com/gpu", "effect": "NO_EXECUTE"}
    pool: EksPool = {"types": ["p5.48xlarge"], "max": 1, "zones": ["use1-az1"], "taints": [taint]}
    assert plan_gpu_node_group("p", pool).taints == [taint]
