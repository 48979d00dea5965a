"""The cost pack on raw resources, behind the policy SDK's own proxies: what refuses, what advises, what is unknown."""

import re
from collections.abc import Mapping
from copy import deepcopy
from datetime import date, timedelta
from typing import Any

import pytest
from pulumi_policy import StackValidationArgs

from gpufleet.cost.estimate import estimate
from gpufleet.errors import UserError
from gpufleet.policies import cost, ownership
from gpufleet.policies.cost import validate_cost, validate_cost_and_ownership, validate_price_age
from gpufleet.policies.pack import StackPolicy, policies_of
from gpufleet.rules import Status
from tests.policies.raw_program import plan_from, policy_args

TODAY = date(2026, 11, 21)
LATER = str(date.today() + timedelta(days=365))
TAGS = {"owner": "ops", "project": "llm", "expires-at": LATER}
PAST = TAGS | {"expires-at": "2026-01-31"}
Resources = dict[str, dict[str, Any]]


def group(type_name: str = "g5.8xlarge", most: object = 2, least: object = 0, **more: object) -> dict[str, Any]:
    sizes = {"minSize": least, "desiredSize": least, "maxSize": most}
    inputs = {"instanceTypes": [type_name], "scalingConfig": sizes, "subnetIds": ["s"], "diskSize": 100, "tags": TAGS}
    return {"type": "aws:eks/nodeGroup:NodeGroup", "inputs": inputs | more}


BUDGET = {"type": "aws:budgets/budget:Budget", "inputs": {"budgetType": "COST", "limitAmount": "5000"}}
RANDOM = {"type": "random:index/randomInteger:RandomInteger"}
LEGAL: Resources = {
    "budget": BUDGET,
    "trainers": group(),
    "nat": {"type": "aws:ec2/natGateway:NatGateway", "inputs": {"subnetId": "s", "tags": TAGS}},
}


def program(**changes: dict[str, Any] | None) -> Resources:
    """The legal program with some resources in place of, or beside, its own; None takes one away."""
    return {name: each for name, each in (deepcopy(LEGAL) | changes).items() if each is not None}


def found(
    resources: Resources, config: Mapping[str, Any] | None = None, stack: str = "dev"
) -> set[tuple[str, str, str]]:
    """Resource, rule and status of all that is not passed."""
    found = validate_cost_and_ownership(plan_from(resources, stack=stack), config or {}, TODAY)
    return {
        (each.resource, each.finding.rule, each.finding.status.value)
        for each in found
        if each.finding.status is not Status.PASS
    }


def concerns() -> list[StackPolicy]:
    return [
        StackPolicy("cost", "Cost.", cost.validate_cost, cost.PROPERTIES),
        StackPolicy("ownership", "Owners.", ownership.validate_ownership, ownership.PROPERTIES),
    ]


def reported(args: StackValidationArgs) -> tuple[list[str], list[str]]:
    """What the mandatory policies report, and the advisory ones."""
    refused: list[str] = []
    advised: list[str] = []
    *refusing, advising = policies_of(*concerns())
    for policy in refusing:
        policy.validate(args, lambda line, urn=None: refused.append(line))
    advising.validate(args, lambda line, urn=None: advised.append(line))
    return refused, advised


def test_legal_program_passes() -> None:
    assert found(LEGAL) == set()
    assert reported(policy_args(LEGAL)) == ([], [])


def test_the_age_of_prices_is_told_by_an_estimate_and_by_no_pack() -> None:
    """Or else one change would warn on one day and pass on another."""
    late = estimate(plan_from(LEGAL), today=date(2099, 1, 1))
    assert validate_price_age(late).finding.status is Status.FAIL
    rules = {each.finding.rule for each in validate_cost(plan_from(LEGAL), {}, date(2099, 1, 1))}
    assert "any-cost-minor-price-known" in rules
    assert "any-cost-price-age" not in rules


@pytest.mark.parametrize(
    ("changes", "stack", "finding"),
    [
        ({"trainers": group(most=14)}, "prod", ("trainers", "any-cost-ceiling-pool", "fail")),
        ({"budget": None}, "dev", ("dev", "any-cost-budget", "fail")),
        ({"trainers": group(least=1)}, "aws-dev", ("trainers", "any-cost-idle", "fail")),
        ({"trainers": group("p5e.48xlarge")}, "dev", ("trainers", "any-cost-price-known", "fail")),
        ({"trainers": group(tags={"owner": "ops"})}, "dev", ("trainers", "any-owner-tags", "fail")),
        (
            {"trainers": group(tags=TAGS | {"expires-at": "2026-01-31"})},
            "dev",
            ("trainers", "any-owner-expiry", "fail"),
        ),
        ({"trainers": group(tags=TAGS | {"expires-at": "never"})}, "dev", ("trainers", "any-owner-temporary", "fail")),
        ({"trainers": group(tags=TAGS | {"expires-at": "soon"})}, "dev", ("trainers", "any-tag-expiry", "fail")),
        ({"second": LEGAL["nat"]}, "dev", ("dev", "aws-cost-nat-gateways", "fail")),
        (
            {"odd": {"type": "aws:neptune/cluster:Cluster"}},
            "dev",
            ("dev", "any-cost-minor-price-known", "unverified"),
        ),
    ],
)
def test_mistake_is_found(changes: Resources, stack: str, finding: tuple[str, str, str]) -> None:
    assert finding in found(program(**changes), stack=stack)


@pytest.mark.parametrize(
    ("changes", "stack"),
    [
        ({"trainers": group(most=13)}, "prod"),
        ({"trainers": group(least=1)}, "prod"),
        ({"trainers": group(tags=TAGS | {"expires-at": "never"})}, "prod"),
        ({"second": LEGAL["nat"]}, "prod"),
        ({"system": group("m7i.large", most=3, least=2)}, "dev"),
    ],
)
def test_nearest_legal_neighbour_passes(changes: Resources, stack: str) -> None:
    assert found(program(**changes), stack=stack) == set()


def test_ceilings_say_the_largest_max_that_fits_and_it_does() -> None:
    line = next(
        each.line
        for each in validate_cost(plan_from(program(trainers=group(most=64)), stack="prod"), {}, TODAY)
        if each.finding.rule == "any-cost-ceiling-stack"
    )
    fits = int(re.findall(r"set max=(\d+) or less in trainers", line)[0])
    for most, refused in ((fits, False), (fits + 1, True)):
        found = validate_cost(plan_from(program(trainers=group(most=most)), stack="prod"), {}, TODAY)
        assert any(each.rejects for each in found if each.finding.rule == "any-cost-ceiling-stack") is refused


def test_limits_for_an_hour_hold_for_a_month() -> None:
    # 2 x (2.448 + 100 x 0.08 / 730) = 4.918 an hour for the pool.
    assert found(program(), {"pool_usd_hour": 4.92}) == set()
    assert ("trainers", "any-cost-ceiling-pool", "fail") in found(program(), {"pool_usd_hour": 4.91})


def test_approval_is_by_pool() -> None:
    many = program(trainers=group("g4dn.xlarge", most=40))
    assert found(many) == {("trainers", "any-cost-approval", "fail")}
    assert found(many, {"approved": {"train*": 40}}) == set()
    assert found(many, {"approved": {"train*": 39}}) == {("trainers", "any-cost-approval", "fail")}
    assert found(many, {"unapproved_gpus": 40}) == set()
    assert found(program(trainers=group("g4dn.xlarge", most=40, capacityType="SPOT"))) == set()


def test_budget_may_be_elsewhere() -> None:
    assert found(program(budget=None), {"budget": "elsewhere"}) == set()


def test_provider_s_default_tags_count_where_they_show() -> None:
    provider = {"type": "pulumi:providers:aws", "inputs": {"defaultTags": '{"tags": {"owner": "a", "project": "b"}}'}}
    bare = program(trainers=group(tags={"expires-at": LATER}))
    assert ("trainers", "any-owner-tags", "fail") in found(bare)
    assert found(bare | {"provider": provider}) == set()
    assert found(program(trainers=group(tags={}, tagsAll=TAGS))) == set()


def test_auto_scaling_groups_have_a_list_of_tags() -> None:
    tags = [{"key": key, "value": value, "propagateAtLaunch": True} for key, value in TAGS.items()]
    inputs = {"minSize": 0, "maxSize": 1, "tags": tags}
    asg = {"type": "aws:autoscaling/group:Group", "inputs": inputs}
    assert not [each for each in found(program(asg=asg)) if each[1].startswith("any-owner")]


def test_one_day_is_told_once_on_the_stack() -> None:
    resources = program(trainers=group(tags=PAST), nat=None, other=group(tags=PAST))
    days = [each for each in found(resources) if each[1] == "any-owner-expiry"]
    assert days == [("dev", "any-owner-expiry", "fail")]


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"trainers": group(most="${r.result}")}, ("trainers", "any-cost-approval", "unverified")),
        ({"trainers": group(most="${r.result}")}, ("dev", "any-cost-ceiling-stack", "unverified")),
        ({"trainers": group("${r.result}")}, ("trainers", "any-cost-approval", "unverified")),
        ({"trainers": group(tags="${r.result}")}, ("trainers", "any-owner-tags", "unverified")),
    ],
)
def test_unknown_values_are_unverified_through_the_sdk(changes: Resources, finding: tuple[str, str, str]) -> None:
    resources = program(r=RANDOM, **changes)
    assert finding in found(resources)
    _, advised = reported(policy_args(resources))
    assert [line for line in advised if f"[{finding[1]}]" in line and "not verified: " in line]


def test_finding_on_a_price_is_on_the_resource_that_has_it() -> None:
    lustre = {"type": "aws:fsx/lustreFileSystem:LustreFileSystem", "inputs": {"storageCapacity": 1200, "tags": TAGS}}
    found = validate_cost(plan_from(program(main=lustre, trainers=group("p5e.48xlarge"))), {}, TODAY)
    faults = [each for each in found if each.finding.status is Status.FAIL and "price-known" in each.finding.rule]
    assert sorted((each.finding.rule, each.urn.rpartition("::")[2], each.rejects) for each in faults) == [
        ("any-cost-minor-price-known", "", False),
        ("any-cost-price-known", "trainers", True),
    ]


def test_only_a_missing_price_of_gpu_nodes_refuses() -> None:
    """In a region of which the catalog has the GPU types, and few other prices."""
    refused, advised = reported(policy_args(LEGAL, region="me-central-1"))
    assert [line for line in refused if "price" in line] == []
    assert [line for line in advised if "disk (gp3)" in line and "[any-cost-minor-price-known]" in line]


def test_suppressed_price_is_told_and_does_not_refuse() -> None:
    resources = program(trainers=group("p5e.48xlarge"))
    entry = {"rule": "any-cost-price-known", "reason": "offer 4711", "expires": "2999-01-31", "resource": "trainers"}
    refused, advised = reported(policy_args(resources, {"suppress": [entry]}))
    assert refused == []
    assert [line for line in advised if "suppressed until 2999-01-31: offer 4711" in line]


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({"stack_usd_month": -1}, "cost.stack_usd_month=-1: is not an amount; use a number above 0 [config-policy]"),
        ({"stack_usd_month": "9"}, "cost.stack_usd_month=9: is not an amount; use a number above 0 [config-policy]"),
        ({"pool_usd_hour": 0}, "cost.pool_usd_hour=0: is not an amount; use a number above 0 [config-policy]"),
        (
            {"pool_usd_hour": 1, "pool_usd_month": 1},
            "cost.pool_usd_hour: stands beside pool_usd_month; keep one of them [config-policy]",
        ),
        ({"unapproved_gpus": 1.5}, "cost.unapproved_gpus=1.5: must be a whole number; use 0 or more [config-policy]"),
        ({"approved": 5}, "cost.approved=5: must be a mapping; write {<name>: <number>} [config-policy]"),
        ({"approved": {"a": "b"}}, "cost.approved.a=b: must be a whole number; use 0 or more [config-policy]"),
        ({"dev": 5}, "cost.dev=5: must be a string; put it in quotes [config-policy]"),
        ({"budget": "no"}, "cost.budget=no: is not an allowed value; use required or elsewhere [config-policy]"),
        ({"stack_usd_mont": 5}, "cost.stack_usd_mont: unknown key; did you mean stack_usd_month? [config-policy]"),
        ({"usage": {"nat": 5}}, "cost.usage.nat: unknown key; did you mean nat_gb? [cost-usage]"),
        ({"usage": 5}, "cost.usage=5: must be a mapping; write keys under it, such as nat_gb: 500 [cost-usage]"),
    ],
)
def test_bad_configuration_is_one_line_and_refuses(config: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError) as caught:
        validate_cost(plan_from(LEGAL), config)
    assert str(caught.value) == line
    refusing = concerns()[0].policy()
    refused: list[str] = []
    refusing.validate(policy_args(LEGAL, config), lambda text, urn=None: refused.append(text))
    assert refused == [f"the configuration of the policy pack: {line}"]


def test_bad_tags_configuration_is_one_line() -> None:
    with pytest.raises(UserError) as caught:
        ownership.validate_ownership(plan_from(LEGAL), {"tags": "owner"})
    assert str(caught.value) == (
        "ownership.tags=owner: must be a list of strings; write [owner, project, expires-at] [config-policy]"
    )


def test_a_disabled_concern_gives_no_advice_and_nothing_is_said_twice() -> None:
    # No tags, which nobody can know before deployment: advice of ownership.
    program = {**LEGAL, "trainers": group(tags="${vpc.tags}"), "vpc": {"type": "aws:ec2/vpc:Vpc"}}
    *refusing, advising = policies_of(*concerns())
    said: list[str] = []

    def run(*names: str) -> list[str]:
        """What `advice` says when only the policies of these names are enabled."""
        said.clear()
        args = policy_args(program)
        for policy in refusing:
            if policy.name in names:
                policy.validate(args, lambda line, urn=None: None)
        advising.validate(args, lambda line, urn=None: said.append(line))
        return [line for line in said if "[any-owner-tags]" in line]

    assert len(run("cost", "ownership")) == 1
    assert run("cost") == []
    assert run() == []
