"""Both packs on every resource that an Azure environment is made of, behind the policy SDK's own proxies."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from gpufleet.policies.azure.feasibility import validate_azure_feasibility
from gpufleet.policies.cost import validate_cost_and_ownership
from gpufleet.policies.pack import plan_of
from gpufleet.rules import Status
from tests.policies.azure_environment import TAGS, Resources, azure_environment
from tests.policies.raw_program import plan_from, policy_args

TODAY = date(2026, 11, 21)
# A reservation needs the subscription's own word on its size.
LEFT_OPEN = {("capacity", "azure-reservation-size", "unverified")}


def found(
    resources: Resources, config: Mapping[str, Any] | None = None, stack: str = "azure-dev"
) -> set[tuple[str, str, str]]:
    """Resource, rule and status of all that is not passed; what prices' age says depends on the catalog."""
    # An Azure program has no provider that says a region.
    plan = plan_of(policy_args(resources, stack=stack, region="eastus").resources)
    found = [
        *validate_cost_and_ownership(plan, config or {}, TODAY),
        *validate_azure_feasibility(plan, {"aks_infiniband": True}),
    ]
    unseen = plan_from(resources, region="eastus", stack=stack)
    assert found == [
        *validate_cost_and_ownership(unseen, config or {}, TODAY),
        *validate_azure_feasibility(unseen, {"aks_infiniband": True}),
    ]
    return {
        (each.resource, each.finding.rule, each.finding.status.value)
        for each in found
        if each.finding.status is not Status.PASS
    }


def changed(name: str, **inputs: Any) -> Resources:
    resources = azure_environment()
    resources[name]["inputs"] |= inputs
    return resources


def test_nothing_is_wrong_with_the_environment() -> None:
    assert found(azure_environment()) == LEFT_OPEN


@pytest.mark.parametrize(
    ("resources", "finding"),
    [
        ({"budget": None}, ("azure-dev", "any-cost-budget", "fail")),
        (changed("trainers", minCount=1, count=1), ("trainers", "any-cost-idle", "fail")),
        (changed("ring", scaleSettings={"fixedScale": {"targetDedicatedNodes": 1}}), ("ring", "any-cost-idle", "fail")),
        (changed("ring", scaleSettings={"fixedScale": {"targetDedicatedNodes": 17}}),
         ("ring", "any-cost-approval", "fail")),
        (changed("spot", scaleSettings={"autoScale": {"formula": "$TargetLowPriorityNodes = $PendingTasks;"}}),
         ("azure-dev", "any-cost-ceiling-stack", "unverified")),
        (changed("spot", vmSize="Standard_ND96isr_H100_v5"), ("spot", "any-cost-ceiling-pool", "fail")),
        (changed("data", sku={"name": "Standard_GRS"}), ("azure-dev", "any-cost-minor-price-known", "fail")),
        (changed("capacity", sku={"name": "Standard_ND128isr_GB300_v6", "capacity": 1}),
         ("capacity", "any-cost-price-known", "fail")),
        ({"odd": {"type": "azure-native:search:Service", "inputs": {}}},
         ("azure-dev", "any-cost-minor-price-known", "unverified")),
    ],
)  # fmt: skip
def test_what_costs_too_much_or_nobody_knows_is_found(resources: Resources, finding: tuple[str, str, str]) -> None:
    whole = {name: each for name, each in (azure_environment() | resources).items() if each is not None}
    assert finding in found(whole)


@pytest.mark.parametrize(
    "name", ["data", "images", "nat", "address", "endpoint", "zone", "cluster", "trainers", "capacity", "spot", "ring"]
)
def test_whatever_is_billed_has_tags(name: str) -> None:
    assert found(changed(name, tags=None)) - LEFT_OPEN == {(name, "any-owner-tags", "fail")}


@pytest.mark.parametrize(
    "name",
    ["group", "identity", "pulls", "net", "nsg", "nodes", "scripts", "logs", "hub", "zone-link", "near", "account",
     "group-reserved", "budget"],
)  # fmt: skip
def test_what_is_free_needs_none(name: str) -> None:
    resources = azure_environment()
    resources[name]["inputs"].pop("tags", None)
    assert found(resources) == LEFT_OPEN


def test_tags_of_a_batch_pool_s_machines_are_tags_that_reach_nothing() -> None:
    bare = found(changed("spot", tags=None, resourceTags=TAGS))
    assert bare - LEFT_OPEN == {("spot", "azure-batch-resource-tags", "fail")}


def test_reserved_nodes_are_gated_in_the_stack_that_reserves_them() -> None:
    # 40 x 730 x 98.32 = 2,870,944 USD a month, with no pool on it.
    capacity = changed("capacity", sku={"name": "Standard_ND96isr_H100_v5", "capacity": 40})
    assert ("azure-dev", "any-cost-ceiling-stack", "fail") in found(capacity)
