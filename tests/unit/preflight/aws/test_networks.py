"""From what a plan makes of addresses, VPCs and gateways, and an account's answers, to findings."""

from dataclasses import replace

import pytest

from gpufleet.plan.resource import Plan
from gpufleet.preflight.aws.facts import ExistingResources
from gpufleet.preflight.aws.networks import validate_networks
from gpufleet.preflight.query_results import QueryRunner
from tests.policies.raw_program import plan_from

EIP, NAT, SUBNET = "aws:ec2/eip:Eip", "aws:ec2/natGateway:NatGateway", "aws:ec2/subnet:Subnet"
ADDRESSES = {f"address-{number}": {"type": EIP} for number in (1, 2, 3)}
GATEWAYS = {
    "a": {"type": SUBNET, "inputs": {"availabilityZoneId": "use1-az1"}},
    "b": {"type": SUBNET, "inputs": {"availabilityZone": "us-east-1c"}},
    "nat-a": {"type": NAT, "inputs": {"subnetId": "${a.id}"}},
    "nat-b": {"type": NAT, "inputs": {"subnetId": "${b.id}"}},
}


def check(account, resources, operation="create", zone_names=None):
    queries = QueryRunner()
    plan = plan_from(resources)
    plan = Plan(plan.stack, [replace(each, operation=operation) for each in plan.resources])
    found = validate_networks(plan, lambda region: account, queries, zone_names or {})
    assert {(each.resource, each.finding.rule) for each in found} <= {("dev", "aws-network-quota-enough")}
    return [each.finding for each in found], queries.reasons


def statuses(account, resources, *more):
    return [finding.status.value for finding in check(account, resources, *more)[0]]


@pytest.mark.parametrize(
    ("own", "others", "status"),
    [
        (0, 2, "pass"),
        (0, 3, "fail"),
        # A plan is made from nothing where no state is at hand: what the account has of it is not made again.
        (3, 2, "pass"),
        (3, 9, "pass"),
        (1, 2, "pass"),
        (1, 3, "fail"),
        # Left over by something else with the stack's tag.
        (4, 1, "pass"),
    ],
)
def test_what_is_there_of_the_stack_is_not_counted_twice(fake_aws, own, others, status):
    fake_aws.resource_limits = {"elastic_ips": 5}
    fake_aws.held = {"elastic_ips": {"": ExistingResources(own, others)}}
    assert statuses(fake_aws, ADDRESSES) == [status]


@pytest.mark.parametrize(("own", "others"), [(3, 0), (0, 3)])
def test_what_is_new_beside_a_state_is_new_whoever_is_asked(fake_aws, own, others):
    """Two addresses stand and are kept, tagged or not; the third is new."""
    plan = plan_from(ADDRESSES)
    kept = [replace(each, operation="same") for each in plan.resources[:2]]
    queries = QueryRunner()
    fake_aws.resource_limits = {"elastic_ips": 2}
    fake_aws.held = {"elastic_ips": {"": ExistingResources(2 if own else 0, 0 if own else 2)}}
    plan = Plan(plan.stack, [*kept, plan.resources[2]])
    (found,) = validate_networks(plan, lambda region: fake_aws, queries, {})
    assert found.line.startswith("dev: elastic_ips=1: 1 new Elastic IP in us-east-1 and 2 in use make 3")


def test_nothing_is_asked_where_nothing_is_new(fake_aws):
    assert check(fake_aws, ADDRESSES | GATEWAYS, "same") == ([], [])
    assert fake_aws.asked == []


def test_each_quota_is_asked_for_once(fake_aws):
    fake_aws.resource_limits = {"nat_gateways": 5, "elastic_ips": 5}
    assert statuses(fake_aws, ADDRESSES | GATEWAYS) == ["pass", "pass"]
    assert fake_aws.asked == [
        ("zones",),
        ("resource limit", "elastic_ips"),
        ("network use", "elastic_ips"),
        ("resource limit", "nat_gateways"),
        ("network use", "nat_gateways"),
    ]


def test_gateways_are_counted_in_their_zone(fake_aws):
    fake_aws.resource_limits = {"nat_gateways": 5}
    # us-east-1c is use1-az1 here: both are in one zone.
    fake_aws.held = {"nat_gateways": {"use1-az1": ExistingResources(0, 4), "use1-az2": ExistingResources(0, 9)}}
    (finding,), reasons = check(fake_aws, GATEWAYS)
    assert finding.problem == "2 new NAT gateways in use1-az1 and 4 in use make 6, which is above the limit of 5"
    assert "--service-code vpc --quota-code L-FE5A380F --region us-east-1 --desired-value 6" in finding.fix
    assert reasons == []


def test_the_configurations_names_of_zones_spare_the_question(fake_aws):
    fake_aws.resource_limits = {"nat_gateways": 1}
    assert statuses(fake_aws, GATEWAYS, "create", {"use1-az4": "us-east-1c"}) == ["pass", "pass"]
    assert ("zones",) not in fake_aws.asked


def test_a_zone_of_an_unknown_name_is_not_verified(fake_aws, denied):
    fake_aws.names = denied
    fake_aws.resource_limits = {"nat_gateways": 5}
    assert statuses(fake_aws, GATEWAYS) == ["pass", "unverified"]


def test_gateways_whose_zone_nobody_knows_may_be_in_this_one(fake_aws):
    fake_aws.resource_limits = {"nat_gateways": 5}
    fake_aws.held = {"nat_gateways": {"use1-az1": ExistingResources(0, 2), "": ExistingResources(0, 2)}}
    (finding,), reasons = check(fake_aws, GATEWAYS)
    assert finding.status.value == "unverified"
    assert reasons == ["NAT gateways in us-east-1: the zones of 2 are not known"]
    fake_aws.held = {"nat_gateways": {"use1-az1": ExistingResources(0, 2), "": ExistingResources(0, 1)}}
    assert statuses(fake_aws, GATEWAYS) == ["pass"]


def test_internet_gateways_are_raised_with_vpcs(fake_aws):
    fake_aws.resource_limits = {"internet_gateways": 0}
    (finding,), _ = check(fake_aws, {"gateway": {"type": "aws:ec2/internetGateway:InternetGateway"}})
    assert "--service-code vpc --quota-code L-F678F1CE " in finding.fix


@pytest.mark.parametrize("question", ["resource_limits", "held"])
def test_what_the_account_does_not_tell_is_unverified_with_one_reason(fake_aws, denied, question):
    fake_aws.resource_limits = {"elastic_ips": 5, "vpcs": 5}
    setattr(fake_aws, question, denied)
    found, reasons = check(fake_aws, ADDRESSES | {"vpc": {"type": "aws:ec2/vpc:Vpc"}})
    assert [each.status.value for each in found] == ["unverified", "unverified"]
    assert reasons == ["ec2: denied"]


def test_what_is_not_known_at_preview_is_a_reason(fake_aws):
    found, reasons = check(fake_aws, {"nat": {"type": NAT, "inputs": {"subnetId": "subnet-1"}}})
    assert (found, reasons) == ([], ["nat: the zone is not known at preview"])
