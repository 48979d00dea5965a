"""What own servers in a cluster of AWS cost: in tiers of vCPU-hours, and unknown where nobody says how many vCPUs."""

import pytest

from gpufleet.cost.estimate import estimate
from gpufleet.cost.line_item import FIGURES, LineItem
from gpufleet.cost.usage_assumptions import UsageAssumptions, read_usage
from tests.policies.raw_program import plan_from

FIRST = "on-prem servers' vCPUs (EKS hybrid nodes)"


def entry(kind: str, cluster: str = "lab") -> dict[str, object]:
    inputs = {"clusterName": cluster, "principalArn": f"arn:aws:iam::123456789012:role/{cluster}", "type": kind}
    return {"type": "aws:eks/accessEntry:AccessEntry", "inputs": inputs}


def lines(usage: UsageAssumptions, *entries: dict[str, object], region: str = "us-east-1") -> dict[str, LineItem]:
    found = estimate(plan_from({f"entry-{number}": each for number, each in enumerate(entries)}, region), usage)
    assert found.not_priced == {}
    return {line.what: line for _, line in found.lines}


def months(found: dict[str, LineItem]) -> dict[str, list[float | None]]:
    return {what: [line.month(figure) for figure in FIGURES] for what, line in found.items()}


def test_every_vcpu_is_paid_for_every_hour_in_all_figures() -> None:
    found = lines(UsageAssumptions(own_server_vcpus=160), entry("HYBRID_LINUX"))
    assert months(found) == {FIRST: [pytest.approx(160 * 730 * 0.020)] * 3}
    assert found[FIRST].price.source.startswith("https://aws.amazon.com/eks/pricing/")
    assert found[FIRST].price.as_of == "2026-09-13"


@pytest.mark.parametrize(
    ("vcpus", "usd"),
    [
        # 32 vCPUs each of 10, 50 and 100 servers, with what a public guide works out for them.
        (320, [4672.00]),
        (1600, [11520.00, 8064.00, 160.00]),
        (3200, [11520.00, 8064.00, 11840.00]),
        # 14,600,000 hours: every tier.
        (20000, [11520.00, 8064.00, 46080.00, 46080.00, 18480.00]),
        (576000 / 730, [11520.00]),
    ],
)
def test_the_more_hours_the_less_the_next_one_costs(vcpus: float, usd: list[float]) -> None:
    found = lines(UsageAssumptions(own_server_vcpus=vcpus), entry("HYBRID_LINUX"))
    each = sorted(found.values(), key=lambda line: -(line.price.usd or 0))
    assert [line.month("floor") for line in each] == pytest.approx(usd)


def test_two_clusters_share_them_and_their_tiers() -> None:
    one = lines(UsageAssumptions(own_server_vcpus=3200), entry("HYBRID_LINUX"))
    two = lines(UsageAssumptions(own_server_vcpus=3200), entry("HYBRID_LINUX"), entry("HYBRID_LINUX", "other"))
    assert {what: [pytest.approx(each) for each in found] for what, found in months(one).items()} == months(two)


def test_without_a_number_they_are_unknown_and_not_free() -> None:
    found = lines(UsageAssumptions(), entry("HYBRID_LINUX"))
    assert months(found) == {FIRST: [None] * 3}
    assert found[FIRST].reason == "own_server_vcpus is not given, give it in gpufleet:usage"
    assert months(lines(read_usage({"own_server_vcpus": 0}, "usage"), entry("HYBRID_LINUX"))) == {FIRST: [0.0] * 3}


def test_other_regions_have_no_price_yet() -> None:
    found = lines(UsageAssumptions(own_server_vcpus=160), entry("HYBRID_LINUX"), region="eu-central-1")
    assert found[FIRST].reason == "no price of eks hybrid-vcpu in eu-central-1"


@pytest.mark.parametrize("kind", ["STANDARD", "EC2_LINUX"])
def test_other_entries_cost_nothing(kind: str) -> None:
    assert lines(UsageAssumptions(own_server_vcpus=160), entry(kind)) == {}


def test_the_number_is_said_only_where_it_is_given() -> None:
    plan = plan_from({"entry": entry("HYBRID_LINUX")}, "us-east-1")
    said = "assumed: 160 vCPU of on-prem servers in the cluster, all month"
    assert said in estimate(plan, UsageAssumptions(own_server_vcpus=160)).assumptions
    assert not [each for each in estimate(plan, UsageAssumptions()).assumptions if "vCPU" in each]
