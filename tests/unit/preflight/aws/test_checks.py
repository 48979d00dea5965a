"""From a plan on AWS and an account's answers to findings: what is asked, and what becomes of what is not answered."""

from dataclasses import replace

import pytest

from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.quota_limits import QuotaLimit
from gpufleet.plan.resource import Plan
from gpufleet.preflight.aws.checks import validate_aws
from gpufleet.preflight.aws.facts import CapacityReservation, PlacementGroup
from gpufleet.preflight.query_results import QueryRunner
from gpufleet.rules import Status
from tests.policies.raw_program import plan_from

PLAN = plan_from({"trainers": {"type": "aws:eks/nodeGroup:NodeGroup"}})
ID = "cr-0123456789abcdef0"


def pool(region="us-east-1", unknown=(), **words):
    intent = {"types": ["g5.8xlarge"], "max": 2, "zones": ["use1-az1"]} | words
    intent = {key: value for key, value in intent.items() if key not in unknown}
    return PlannedPool(PLAN.resources[0], "aws", "node-group", region, intent, unknown, True)


def check(account, *pools, zone_names=None, limits=()):
    queries = QueryRunner()
    found = validate_aws(PLAN, pools, lambda region: account, queries, zone_names or {}, limits)
    return [(each.resource, each.finding.rule, each.finding.status.value) for each in found], queries.reasons


def test_everything_there(fake_aws):
    fake_aws.offers = {"g5.8xlarge": ["use1-az1", "use1-az2"], "p5.48xlarge": ["use1-az1"]}
    fake_aws.limits = {("G and VT", "on-demand"): 96}
    fake_aws.used = {"on-demand": {"G and VT": 32}}
    fake_aws.reservations = {ID: CapacityReservation("p5.48xlarge", "use1-az1", "active", 2, 2)}
    fake_aws.groups = {"theirs": PlacementGroup("cluster", "available")}
    reserved = pool(types=["p5.48xlarge"], capacity="reservation", reservation_id=ID)
    grouped = pool(placement="existing", placement_group="theirs")
    found, reasons = check(fake_aws, reserved, grouped, zone_names={"use1-az1": "us-east-1c"})
    assert found == [
        ("dev", "aws-zone-names-agree", "pass"),
        ("trainers", "aws-type-in-zone", "pass"),
        ("trainers", "aws-type-in-zone", "pass"),
        ("trainers", "aws-reservation-usable", "pass"),
        ("trainers", "aws-reservation-market", "pass"),
        ("trainers", "aws-placement-group-usable", "pass"),
        ("dev", "any-quota-enough", "pass"),
    ]
    assert reasons == []
    assert fake_aws.asked == [
        ("zones",),
        ("offers", ("g5.8xlarge", "p5.48xlarge")),
        ("reservation", ID),
        ("group", "theirs"),
        ("limit", ("G and VT", "on-demand")),
        ("use", "on-demand"),
    ]


def test_nothing_there(fake_aws):
    fake_aws.limits = {("G and VT", "on-demand"): 0}
    wrong = pool(capacity="on-demand", reservation_id=ID, placement_group="theirs")
    found, reasons = check(fake_aws, wrong, zone_names={"use1-az1": "us-east-1a"})
    assert found == [
        ("dev", "aws-zone-names-agree", "fail"),
        ("trainers", "aws-type-in-zone", "fail"),
        ("trainers", "aws-reservation-usable", "fail"),
        ("trainers", "aws-placement-group-usable", "fail"),
        ("dev", "any-quota-enough", "fail"),
    ]
    assert reasons == []


def test_what_the_account_does_not_answer_is_unverified_with_one_reason(fake_aws, denied):
    for question in ("names", "offers", "limits", "used", "reservations", "groups"):
        setattr(fake_aws, question, denied)
    wanted = pool(reservation_id=ID, placement_group="theirs")
    found, reasons = check(fake_aws, wanted, zone_names={"use1-az1": "us-east-1c"})
    assert {status for _, _, status in found} == {"unverified"}
    assert len(found) == 5
    assert reasons == ["ec2: denied"]


def test_use_that_is_not_known_is_not_taken_for_none(fake_aws, denied):
    fake_aws.offers = {"g5.8xlarge": ["use1-az1"]}
    fake_aws.limits = {("G and VT", "on-demand"): 64}
    fake_aws.used = denied
    found, reasons = check(fake_aws, pool())
    assert found[-1] == ("dev", "any-quota-enough", "unverified")
    assert reasons == ["ec2: denied"]


def test_the_configurations_quotas_count_where_the_account_does_not_tell(fake_aws, denied):
    fake_aws.offers = {"g5.8xlarge": ["use1-az1"]}
    fake_aws.limits = denied
    configured = [QuotaLimit("G and VT", "on-demand", 64, 0)]
    assert check(fake_aws, pool(), limits=configured)[0][-1] == ("dev", "any-quota-enough", "pass")
    assert check(fake_aws, pool(max=3), limits=configured)[0][-1] == ("dev", "any-quota-enough", "fail")
    fake_aws.limits = {("G and VT", "on-demand"): 63}
    assert check(fake_aws, pool(), limits=configured)[0][-1] == ("dev", "any-quota-enough", "fail")


def test_use_is_asked_for_once_a_market(fake_aws):
    fake_aws.limits = {("G and VT", "on-demand"): 999, ("P", "on-demand"): 999, ("P", "spot"): 999}
    pools = [pool(), pool(types=["p4d.24xlarge"]), pool(types=["p4d.24xlarge"], capacity="spot")]
    check(fake_aws, *pools)
    assert [each for each in fake_aws.asked if each[0] == "use"] == [("use", "on-demand"), ("use", "spot")]


def test_quotas_are_of_a_region(fake_aws):
    fake_aws.offers = {"g5.8xlarge": ["use1-az1"]}
    fake_aws.limits = {("G and VT", "on-demand"): 64}
    found, _ = check(fake_aws, pool(), pool(region="us-west-2", zones=[]))
    assert [each for each in found if each[1] == "any-quota-enough"] == [("dev", "any-quota-enough", "pass")] * 2


def test_a_pool_whose_region_is_not_known_has_a_reason(fake_aws):
    found, reasons = check(fake_aws, pool(region=None))
    assert found == [("dev", "any-quota-enough", "unverified")]
    assert reasons == ["trainers: the region is not known at preview"]


@pytest.mark.parametrize("word", ["types", "max", "capacity"])
def test_what_is_not_known_at_preview_is_never_a_pass(fake_aws, word):
    fake_aws.offers = {"g5.8xlarge": ["use1-az1"]}
    fake_aws.limits = {("G and VT", "on-demand"): 999}
    found, _ = check(fake_aws, pool(unknown=(word,)))
    assert found[-1] == ("dev", "any-quota-enough", Status.UNVERIFIED.value)


@pytest.mark.parametrize(
    ("operation", "status"), [("create", "fail"), ("same", "unverified"), ("update", "unverified")]
)
def test_nodes_that_nobody_can_tell_from_others_are_not_held_against_their_stack(fake_aws, operation, status):
    ours = {
        "trainers": {"type": "gpufleet-aws:index:GpuNodeGroup"},
        "nodes": {"type": "aws:eks/nodeGroup:NodeGroup", "parent": "trainers"},
    }
    for resources, expected in (({"nodes": ours["nodes"] | {"parent": ""}}, status), (ours, "fail")):
        plan = plan_from(resources)
        plan = Plan("dev", [replace(each, operation=operation) for each in plan.resources])
        group = replace(pool(zones=[]), resource=plan.resources[-1])
        fake_aws.limits = {("G and VT", "on-demand"): 64}
        fake_aws.used = {"on-demand": {"G and VT": 32}}
        found = validate_aws(plan, [group], lambda region: fake_aws, QueryRunner(), {}, ())
        assert found[-1].finding.status.value == expected


@pytest.mark.parametrize(
    ("limits", "status"),
    [({"nodes_per_node_group": 512}, "pass"), ({"nodes_per_node_group": 511}, "fail"), ({}, "unverified")],
)
def test_more_nodes_than_the_default_quota(fake_aws, limits, status):
    fake_aws.offers = {"g5.8xlarge": ["use1-az1"]}
    fake_aws.resource_limits = limits
    found, _ = check(fake_aws, pool(max=512))
    assert [each for each in found if each[1] == "aws-node-group-quota"] == [
        ("trainers", "aws-node-group-quota", status)
    ]
    assert ("resource limit", "nodes_per_node_group") in fake_aws.asked


def test_nobody_asks_for_the_quota_of_few_nodes(fake_aws):
    found, _ = check(fake_aws, pool(max=450))
    assert "aws-node-group-quota" not in {rule for _, rule, _ in found}
    assert ("resource limit", "nodes_per_node_group") not in fake_aws.asked
