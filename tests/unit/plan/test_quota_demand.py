"""What pools need of quotas: by account, family and market."""

import pytest

from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.quota_demand import DemandingPool, PoolDemand, QuotaDemand, quota_demand, quota_demand_of
from tests.policies.raw_program import plan_from

P = "aws:eks/nodeGroup:NodeGroup"


def growing(name="a", cloud="aws", region="us-east-1", unknown=(), account="", most_by_type=None, **words):
    return DemandingPool(name, cloud, region, words, frozenset(unknown), account, most_by_type or {})


def need(family, market, *shares, cloud="aws", region="us-east-1", account=""):
    return QuotaDemand(cloud, region, account, family, market, tuple(PoolDemand(*share) for share in shares))


@pytest.mark.parametrize(
    ("pools", "found"),
    [
        ([growing(types=["g5.8xlarge"], max=2)], [need("G and VT", "on-demand", ("a", 2, 32))]),
        (
            [growing(types=["g5.8xlarge"], max=2), growing("b", types=["g6.xlarge"], max=3)],
            [need("G and VT", "on-demand", ("a", 2, 32), ("b", 3, 4))],
        ),
        # Apart: market, family, region.
        (
            [
                growing(types=["g5.8xlarge"], max=2),
                growing("b", types=["g5.8xlarge"], max=2, capacity="spot"),
                growing("c", types=["p4d.24xlarge"], max=2),
                growing("d", region="us-west-2", types=["g5.8xlarge"], max=2),
            ],
            [
                need("G and VT", "on-demand", ("a", 2, 32)),
                need("G and VT", "spot", ("b", 2, 32)),
                need("P", "on-demand", ("c", 2, 96)),
                need("G and VT", "on-demand", ("d", 2, 32), region="us-west-2"),
            ],
        ),
        # Any of several types may be launched: the largest of each family.
        (
            [growing(types=["g6.xlarge", "g6.4xlarge", "p4d.24xlarge"], max=3, capacity="spot")],
            [need("G and VT", "spot", ("a", 3, 16)), need("P", "spot", ("a", 3, 96))],
        ),
        # AWS Batch: 96 vCPUs at the most, so fewer large ones.
        (
            [growing(types=["g6.xlarge", "g6.12xlarge"], max=24, most_by_type={"g6.xlarge": 24, "g6.12xlarge": 3})],
            [need("G and VT", "on-demand", ("a", 3, 48))],
        ),
        # A reservation has counted since it was made; a capacity block never does.
        ([growing(types=["p5.48xlarge"], max=2, capacity="reservation")], []),
        ([growing(types=["p5.48xlarge"], max=2, capacity="capacity-block")], []),
        # Not known before deployment.
        ([growing(types=["g5.8xlarge"], unknown=["max"])], [need("G and VT", "on-demand", ("a", None, 32))]),
        ([growing(max=2, unknown=["types"])], [need(None, "on-demand", ("a", 2, None))]),
        ([growing(types=["x9.large"], max=2)], [need(None, "on-demand", ("a", 2, None))]),
        ([growing(types=["g5.8xlarge"], max=2, unknown=["capacity"])], [need("G and VT", None, ("a", 2, 32))]),
        # Azure: on demand by family and together, Spot of all families together.
        (
            [growing(cloud="azure", types=["Standard_NC6"], max=4)],
            [
                need("standardNCFamily", "on-demand", ("a", 4, 6), cloud="azure"),
                need("all", "on-demand", ("a", 4, 6), cloud="azure"),
            ],
        ),
        (
            [growing(cloud="azure", types=["Standard_NC6"], max=4, capacity="spot")],
            [need("all", "spot", ("a", 4, 6), cloud="azure")],
        ),
        (
            [
                growing(cloud="azure", types=["Standard_NC6"], max=4, capacity="spot"),
                growing("b", cloud="azure", types=["Standard_NC6"], max=4, capacity="spot", account="train"),
            ],
            [
                need("all", "spot", ("a", 4, 6), cloud="azure"),
                need("all", "spot", ("b", 4, 6), cloud="azure", account="train"),
            ],
        ),
    ],
)
def test_what_pools_need(pools, found):
    assert quota_demand_of(pools) == found


@pytest.mark.parametrize(("most", "peak"), [(2, 64), (None, None)])
def test_the_peak_of_what_is_not_known_is_not_known(most, peak):
    assert need("P", "spot", ("a", most, 32)).peak == peak


def planned(plan, name, **more):
    fields = {"cloud": "aws", "kind": "node-group", "region": "us-east-1", "gpu": True} | more
    resource = next(each for each in plan.resources if each.name == name)
    return PlannedPool(resource=resource, intent={"types": ["g5.8xlarge"], "max": 1}, **fields)


def test_a_pool_inside_our_component_is_called_like_the_component_and_others_like_themselves():
    plan = plan_from(
        {
            "dev-trainers": {"type": "gpufleet-aws:index:GpuNodeGroup"},
            "dev-trainers-nodes": {"type": P, "parent": "dev-trainers"},
            "theirs": {"type": "them:index:Pool"},
            "their-nodes": {"type": P, "parent": "theirs"},
        }
    )
    found = quota_demand([planned(plan, "dev-trainers-nodes"), planned(plan, "their-nodes")], plan)
    assert [share.pool for share in found[0].shares] == ["dev-trainers", "their-nodes"]


def test_pools_without_gpus_need_nothing_here_and_unknown_ones_do():
    plan = plan_from({"a": {"type": P}, "b": {"type": P}})
    found = quota_demand([planned(plan, "a", gpu=False), planned(plan, "b", gpu=None)], plan)
    assert [share.pool for each in found for share in each.shares] == ["b"]


ACCOUNT = "azure-native:batch:BatchAccount"
POOL = "azure-native:batch:Pool"


@pytest.mark.parametrize(
    ("resources", "account"),
    [
        ({"pool": {"type": POOL, "inputs": {"accountName": "train"}}}, "train"),
        (
            {
                "batch": {"type": ACCOUNT, "inputs": {"accountName": "train"}},
                "pool": {"type": POOL, "inputs": {"accountName": "${batch.name}"}},
            },
            "train",
        ),
        ({"batch": {"type": ACCOUNT}, "pool": {"type": POOL, "inputs": {"accountName": "${batch.name}"}}}, "batch"),
        (
            {
                "batch": {"type": ACCOUNT, "inputs": {"poolAllocationMode": "UserSubscription"}},
                "pool": {"type": POOL, "inputs": {"accountName": "${batch.name}"}},
            },
            "",
        ),
    ],
)
def test_a_batch_pool_counts_against_its_account_unless_that_allocates_in_the_subscription(resources, account):
    plan = plan_from(resources)
    assert {each.account for each in quota_demand([planned(plan, "pool", cloud="azure", kind="batch-pool")], plan)} == {
        account
    }


def test_a_pool_of_aks_counts_against_the_subscription():
    plan = plan_from({"pool": {"type": "azure-native:containerservice:AgentPool"}})
    assert {each.account for each in quota_demand([planned(plan, "pool", cloud="azure", kind="agent-pool")], plan)} == {
        ""
    }
