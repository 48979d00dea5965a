"""Estimates of raw programs: what counts in which figure, what is unknown, what is committed."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from gpufleet.cost.estimate import Estimate, estimate
from gpufleet.cost.line_item import FIGURES, LineItem, PriceTag
from gpufleet.cost.usage_assumptions import UsageAssumptions
from tests.policies.raw_program import plan_from

TODAY = date(2026, 11, 21)
Resources = dict[str, dict[str, Any]]


def group(type_names: list[str] | str, counts: tuple[int, Any, Any], **more: object) -> dict[str, Any]:
    least, desired, most = counts
    inputs = {
        "instanceTypes": type_names if isinstance(type_names, list) else [type_names],
        "scalingConfig": {"minSize": least, "desiredSize": desired, "maxSize": most},
        "subnetIds": ["subnet-1"],
        "diskSize": 100,
    }
    return {"type": "aws:eks/nodeGroup:NodeGroup", "inputs": inputs | more}


def of(
    resources: Mapping[str, Any], usage: UsageAssumptions | None = None, region: str | None = "us-east-1"
) -> Estimate:
    return estimate(plan_from(resources, region), usage, TODAY)


def line(found: Estimate, what: str) -> LineItem:
    lines = [each for _, each in found.lines if each.what == what]
    assert len(lines) == 1, [each.what for _, each in found.lines]
    return lines[0]


def months(found: LineItem) -> list[float | None]:
    return [None if (month := found.month(figure)) is None else round(month, 4) for figure in FIGURES]


def test_steady_is_desired_in_busy_hours_and_min_in_all_others() -> None:
    nodes = line(of({"a": group("g5.xlarge", (1, 4, 8))}, UsageAssumptions(busy_hours=100)), "nodes: g5.xlarge")
    assert nodes.amounts.floor == 730
    assert nodes.amounts.steady == 4 * 100 + 1 * 630
    assert nodes.amounts.ceiling == 8 * 730


def test_steady_is_never_below_the_floor_nor_above_the_ceiling() -> None:
    for busy in (0, 99):
        usage = UsageAssumptions(busy_hours=730, busy_nodes=(("a", busy),))
        amounts = line(of({"a": group("g5.xlarge", (2, 2, 3))}, usage), "nodes: g5.xlarge").amounts
        assert (amounts.floor, amounts.steady) == (1460, 1460 if busy == 0 else 2190)


def test_spot_counts_at_the_on_demand_price_and_is_shown_as_a_range() -> None:
    found = of({"a": group("p5.48xlarge", (0, 0, 2), capacityType="SPOT")})
    nodes = line(found, "nodes: p5.48xlarge")
    assert nodes.price.usd == 55.04
    assert nodes.note == "at the on-demand price"
    spot = found.pools[0].spot
    assert spot is None or 0 < spot.low <= spot.high < 55.04 * 1.5


def test_dearest_of_several_types_is_the_price() -> None:
    nodes = line(of({"a": group(["g6e.xlarge", "g6e.4xlarge"], (1, 1, 2), capacityType="SPOT")}),
                 "nodes: g6e.xlarge or g6e.4xlarge")  # fmt: skip
    assert months(nodes) == [round(n * 730 * 3.00424, 4) for n in (1, 1, 2)]


def test_unknown_price_is_none_and_the_total_is_only_the_least() -> None:
    found = of({"a": group("p5e.48xlarge", (0, 0, 2))})
    assert months(line(found, "nodes: p5e.48xlarge")) == [0.0, 0.0, None]
    ceiling = found.totals["ceiling"]
    assert (round(ceiling.month, 2), ceiling.complete, ceiling.unknown) == (16.0, False, 1)
    assert found.totals["floor"].complete
    assert len(found.unknowns) == 1
    assert found.unknowns[0].startswith("a: nodes: p5e.48xlarge: no price of p5e.48xlarge in us-east-1")


def test_one_unknown_price_of_several_types_is_unknown() -> None:
    nodes = line(
        of({"a": group(["g5.xlarge", "no.such"], (1, 1, 1), capacityType="SPOT")}), "nodes: g5.xlarge or no.such"
    )
    assert months(nodes) == [None, None, None]


def test_region_that_is_not_known_gives_no_price() -> None:
    found = of({"a": group("g5.xlarge", (1, 1, 1))}, region=None)
    assert months(line(found, "nodes: g5.xlarge")) == [None, None, None]
    assert "in a region that is not known" in found.unknowns[0]


def test_counts_that_are_not_known_are_not_zero() -> None:
    found = of(
        {
            "other": {"type": "random:index/randomInteger:RandomInteger"},
            "a": group("g5.xlarge", (0, 0, "${other.result}")),
        }
    )
    nodes = line(found, "nodes: g5.xlarge")
    assert months(nodes) == [0.0, 0.0, None]
    assert nodes.reason == "the amount is not known before deployment"
    assert found.pools[0].most is None


def reserved(**more: object) -> Resources:
    specification = {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}}
    template = {"capacityReservationSpecification": specification, "name": "t"} | more
    reference = {"id": "${template.id}", "version": "1"}
    return {
        "template": {"type": "aws:ec2/launchTemplate:LaunchTemplate", "inputs": template},
        "a": group("p5.48xlarge", (0, 0, 2), launchTemplate=reference),
    }


def test_reservation_is_committed_in_all_figures_and_not_gated() -> None:
    found = of(reserved())
    nodes = line(found, "nodes: p5.48xlarge")
    assert nodes.committed
    assert months(nodes) == [2 * 730 * 55.04] * 3
    assert found.gated.month == pytest.approx(found.totals["ceiling"].month - 2 * 730 * 55.04)


def test_reservation_that_the_plan_makes_counts_once_and_is_gated() -> None:
    target = {"capacityReservationTarget": {"capacityReservationId": "${reservation.id}"}}
    reservation = {"instanceType": "p5.48xlarge", "instanceCount": 2, "availabilityZone": "us-east-1a"}
    found = of(
        reserved(capacityReservationSpecification=target)
        | {"reservation": {"type": "aws:ec2/capacityReservation:CapacityReservation", "inputs": reservation}}
    )
    assert months(line(found, "nodes: p5.48xlarge")) == [0.0, 0.0, 0.0]
    assert months(line(found, "reserved p5.48xlarge")) == [2 * 730 * 55.04] * 3
    assert found.gated.month == pytest.approx(found.totals["ceiling"].month)


def test_capacity_block_has_no_price() -> None:
    market = {"marketType": "capacity-block"}
    found = of(reserved(instanceMarketOptions=market))
    nodes = line(found, "nodes: p5.48xlarge")
    assert nodes.committed
    assert months(nodes) == [None, None, None]


def test_kept_things_are_in_the_floor_and_moved_ones_are_not() -> None:
    found = of({"files": {"type": "aws:efs/fileSystem:FileSystem", "inputs": {"throughputMode": "elastic"}}})
    assert months(line(found, "shared files (EFS)")) == [150.0, 150.0, 150.0]
    assert months(line(found, "read from shared files (elastic throughput)")) == [0.0, 30.0, 30.0]


def test_resources_of_a_kind_share_an_amount() -> None:
    nat = {"type": "aws:ec2/natGateway:NatGateway", "inputs": {"subnetId": "s"}}
    found = of({"one": nat, "two": nat, "three": nat})
    assert line(found, "NAT gateway").amounts.ceiling == 3 * 730
    assert line(found, "NAT gateway").resources == ("one", "three", "two")
    assert line(found, "data through NAT gateways").amounts.ceiling == pytest.approx(300)


def test_property_that_decides_and_is_not_known_gives_an_unknown_line() -> None:
    random = {"type": "random:index/randomString:RandomString"}
    found = of(
        {"r": random, "files": {"type": "aws:efs/fileSystem:FileSystem", "inputs": {"throughputMode": "${r.result}"}}}
    )
    read = line(found, "read from shared files (elastic throughput)")
    assert months(read) == [None, None, None]
    assert read.reason == "throughputMode is not known before deployment"


@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        ({"version": "1.31"}, "EKS control plane, extended support"),
        ({"version": "1.25"}, "EKS control plane, extended support"),
        ({"version": "1.31", "upgradePolicy": {"supportType": "STANDARD"}}, "EKS control plane"),
        ({"version": "1.34"}, "EKS control plane"),
        ({"version": "1.99"}, "EKS control plane"),
        ({}, "EKS control plane"),
    ],
)
def test_eks_support(inputs: dict[str, Any], what: str) -> None:
    found = of({"cluster": {"type": "aws:eks/cluster:Cluster", "inputs": inputs}})
    assert [each.what for each in found.other_lines] == [what]
    assert line(found, what).price.usd == (0.6 if "extended" in what else 0.1)


def test_interface_endpoint_costs_in_each_zone_and_gateway_endpoint_nothing() -> None:
    kind = "aws:ec2/vpcEndpoint:VpcEndpoint"
    interface = {"vpcEndpointType": "Interface", "subnetIds": ["a", "b", "c"]}
    found = of(
        {"i": {"type": kind, "inputs": interface}, "g": {"type": kind, "inputs": {"vpcEndpointType": "Gateway"}}}
    )
    assert line(found, "interface endpoint in one zone").amounts.floor == 3 * 730
    assert {name for each in found.other_lines for name in each.resources} == {"i"}


def test_traffic_between_zones_only_where_there_are_several() -> None:
    def subnet(zone: str) -> dict[str, Any]:
        return {"type": "aws:ec2/subnet:Subnet", "inputs": {"availabilityZoneId": zone}}

    assert of({"a": subnet("use1-az1"), "b": subnet("use1-az1")}).other_lines == ()
    found = of({"a": subnet("use1-az1"), "b": subnet("use1-az2")})
    assert months(line(found, "data between zones, paid on both sides")) == [0.0, 2.0, 2.0]


def test_only_assumptions_that_a_figure_rests_on_are_said() -> None:
    nat = {"type": "aws:ec2/natGateway:NatGateway", "inputs": {"subnetId": "s"}}
    zones = {
        zone: {"type": "aws:ec2/subnet:Subnet", "inputs": {"availabilityZoneId": zone}} for zone in ("use1-az1", "z2")
    }
    assert of({"nat": nat}).assumptions == ["assumed: 300 GB through NAT gateways"]
    assert of(zones).assumptions == ["assumed: 100 GB between zones"]
    assert [each.split()[1:3] for each in of({"pool": group("g5.xlarge", (0, 0, 1))}).assumptions] == [
        ["160", "h"],
        ["100", "GiB"],
    ]
    assert of({}).assumptions == []


def test_types_are_free_or_priced_or_said_to_be_unknown() -> None:
    found = of({
        "role": {"type": "aws:iam/role:Role"},
        "odd": {"type": "aws:neptune/cluster:Cluster"},
        "fsx": {"type": "aws:fsx/lustreFileSystem:LustreFileSystem", "inputs": {"storageCapacity": 1200}},
        "own": {"type": "acme:index:Platform"},
        "child": {"type": "aws:ec2/vpc:Vpc", "parent": "own"},
    })  # fmt: skip
    assert found.free == {"aws:iam/role:Role": 1, "aws:ec2/vpc:Vpc": 1}
    assert found.not_priced == {"aws:neptune/cluster:Cluster": 1}
    assert found.unknowns == ["fsx: FSx for Lustre: no price of fsx lustre-storage in us-east-1"]


def test_disks_of_the_launch_template_with_what_is_beyond_gp3() -> None:
    ebs = {"volumeSize": 200, "volumeType": "gp3", "iops": 4000, "throughput": 225}
    template = {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": ebs}]}
    found = of({
        "template": {"type": "aws:ec2/launchTemplate:LaunchTemplate", "inputs": template},
        "a": group("g5.xlarge", (1, 1, 1), launchTemplate={"id": "${template.id}", "version": "1"}),
    })  # fmt: skip
    assert months(line(found, "disk (gp3)"))[2] == 200 * 0.08
    assert months(line(found, "disk iops (gp3)"))[2] == 1000 * 0.005
    assert months(line(found, "disk throughput (gp3)"))[2] == 100 * 0.04


def test_old_prices() -> None:
    assert PriceTag("x", "hour", 1.0, "s", "2026-05-24").is_old(TODAY)
    assert not PriceTag("x", "hour", 1.0, "s", "2026-05-25").is_old(TODAY)
    assert PriceTag("x", "hour", 1.0, "s", "2026-04").is_old(TODAY)
    assert not PriceTag("x", "hour", 1.0, "s", "2026-05").is_old(TODAY)


def test_what_is_only_read_is_not_counted() -> None:
    plan = plan_from({"nat": {"type": "aws:ec2/natGateway:NatGateway", "inputs": {}}})
    read = replace(plan, resources=[replace(each, operation="read") for each in plan.resources])
    assert estimate(read, today=TODAY).other_lines == ()


@pytest.mark.parametrize("size", [-1, float("nan"), float("inf"), "many", True])
def test_amount_that_is_none_makes_no_total_smaller(size: object) -> None:
    found = of({"v": {"type": "aws:ebs/volume:Volume", "inputs": {"type": "gp3", "size": size}}})
    assert months(line(found, "EBS volume (gp3)")) == [None, None, None]
    assert not found.totals["ceiling"].complete


def test_negative_counts_are_not_known() -> None:
    found = of({"a": group("g5.xlarge", (0, 0, -2))})
    assert found.totals["ceiling"].month >= 0
    assert not found.totals["ceiling"].complete


def test_empty_plan_costs_nothing() -> None:
    found = of({})
    assert (found.totals["ceiling"].month, found.totals["ceiling"].complete, found.clouds) == (0.0, True, ())


def test_a_busy_month_moves_with_the_type_where_steady_does_not() -> None:
    """No node is desired yet: then steady is the floor, whatever the type."""
    before, after = (of({"a": group(name, (0, 0, 2))}) for name in ("g5.8xlarge", "p4d.24xlarge"))
    assert before.totals["steady"].month == after.totals["steady"].month == 0.0
    disks = [each.totals["ceiling"].month - 2 * 730 * usd for each, usd in ((before, 2.448), (after, 21.957642))]
    assert before.busy_month.month == pytest.approx((2 * 730 * 2.448 + disks[0]) * 160 / 730)
    assert after.busy_month.month == pytest.approx((2 * 730 * 21.957642 + disks[1]) * 160 / 730)


def test_a_busy_month_of_nodes_without_a_price_is_only_the_least() -> None:
    found = of({"a": group("p5e.48xlarge", (0, 0, 2))})
    assert (found.busy_month.complete, found.busy_month.unknown) == (False, 1)


@pytest.mark.parametrize(
    ("throughput", "region", "usd"),
    [(125, "us-east-1", 0.145), (1000, "us-east-1", 0.6), (500, "eu-west-1", 0.374), (250, "ap-northeast-1", 0.282)],
)
def test_lustre_costs_its_size_by_its_throughput(throughput: int, region: str, usd: float) -> None:
    inputs = {"deploymentType": "PERSISTENT_2", "storageCapacity": 4800, "perUnitStorageThroughput": throughput}
    found = of({"fsx": {"type": "aws:fsx/lustreFileSystem:LustreFileSystem", "inputs": inputs}}, region=region)
    fast = line(found, f"FSx for Lustre ({throughput} MB/s for each TiB)")
    assert months(fast) == [round(4800 * usd, 4)] * 3


def test_lustre_in_a_region_without_a_known_price() -> None:
    inputs = {"deploymentType": "PERSISTENT_2", "storageCapacity": 1200, "perUnitStorageThroughput": 1000}
    found = of({"fsx": {"type": "aws:fsx/lustreFileSystem:LustreFileSystem", "inputs": inputs}}, region="ca-west-1")
    assert found.unknowns == [
        "fsx: FSx for Lustre (1000 MB/s for each TiB): no price of fsx lustre-persistent-2-1000 in ca-west-1"
    ]
