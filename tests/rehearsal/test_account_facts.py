"""What a rehearsal's account answers to a preflight."""

from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet.preflight.aws.facts import CapacityReservation, ExistingResources, PlacementGroup
from gpufleet_rehearsal.account_facts import SimulatedAws, no_azure
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.seed_resources import seed_account

RESERVED = """
holds:
  - type: aws:ec2/capacityReservation:CapacityReservation
    id: cr-0123456789abcdef0
    name: reserved
    inputs: {instanceType: p5.48xlarge, instancePlatform: Linux/UNIX, availabilityZone: us-east-1b, instanceCount: 2}
  - type: aws:ec2/capacityReservation:CapacityReservation
    id: cr-0000000000000000b
    name: block
    inputs:
      {instanceType: p5.48xlarge, availabilityZone: us-east-1b, instanceCount: 1, reservationType: capacity-block}
  - type: aws:ec2/placementGroup:PlacementGroup
    id: theirs
    name: theirs
    inputs: {name: theirs, strategy: spread}
quotas:
  - {family: P, market: on-demand, limit: 768, in_use: 96}
  - {family: P, market: spot, limit: 96}
"""


@pytest.fixture
def account(tmp_path: Path) -> SimulatedAws:
    file = tmp_path / "rehearsal.dev.yaml"
    file.write_text(RESERVED)
    seed_account(open_cloud("aws", tmp_path), file)
    return SimulatedAws(tmp_path, "us-east-1", "dev")


def node_group(folder: Path, stack: str, type_: str, desired: int, region: str = "us-east-1", **more: object) -> None:
    cloud = open_cloud("aws", folder)
    inputs = {"instanceTypes": [type_], "scalingConfig": {"minSize": 0, "desiredSize": desired, "maxSize": 9}} | more
    name = f"{stack}-{type_}-{len(more)}-{region}"
    urn = f"urn:pulumi:{stack}::gpufleet::aws:eks/nodeGroup:NodeGroup::{name}"
    cloud.store.add(
        type_="aws:eks/nodeGroup:NodeGroup", id_=name, urn=urn, name=name, inputs=inputs,
        outputs={"region": region}, at=0, ready_at=0,
    )  # fmt: skip


def test_zones_and_offers_are_the_catalogs(account: SimulatedAws) -> None:
    assert account.zone_names()["use1-az2"] == "us-east-1b"
    assert account.zones_with(["p4de.24xlarge", "p9.huge"]) == {
        "p4de.24xlarge": ("use1-az4", "use1-az6"),
        "p9.huge": (),
    }


def test_limits_are_the_files(account: SimulatedAws) -> None:
    assert account.limit("P", "on-demand") == 768
    assert account.limit("P", "spot") == 96
    assert account.limit("G and VT", "spot") is None


def test_in_use_are_reservations_the_files_figure_and_nodes_of_other_stacks(
    account: SimulatedAws, tmp_path: Path
) -> None:
    assert account.in_use("on-demand") == {"P": 96 + 2 * 192}
    node_group(tmp_path, "dev", "p4d.24xlarge", 5)
    node_group(tmp_path, "prod", "p4d.24xlarge", 1)
    node_group(tmp_path, "prod", "p4d.24xlarge", 1, region="eu-west-1")
    node_group(tmp_path, "prod", "g5.8xlarge", 3, capacityType="SPOT")
    assert account.in_use("on-demand") == {"P": 96 + 2 * 192 + 96}
    assert account.in_use("spot") == {"P": 0, "G and VT": 96}


def test_what_the_account_holds(account: SimulatedAws) -> None:
    assert account.reservation("cr-0123456789abcdef0") == CapacityReservation("p5.48xlarge", "use1-az2", "active", 2, 2)
    assert account.reservation("cr-0000000000000000f") is None
    assert account.reservation("cr-0000000000000000b").kind == "capacity-block"
    assert account.placement_group("theirs") == PlacementGroup("spread", "available")
    assert account.placement_group("ours") is None


@pytest.mark.parametrize("counted", ["elastic_ips", "vpcs", "internet_gateways", "nat_gateways"])
def test_the_limit_on_networks_is_where_the_simulated_cloud_refuses(account: SimulatedAws, counted: str) -> None:
    assert account.resource_limit(counted) == 5


def test_networks_in_use_are_the_stacks_and_others(account: SimulatedAws, tmp_path: Path) -> None:
    store = open_cloud("aws", tmp_path).store

    def make(kind: str, id_: str, stack: str, status: str = "available", **inputs: str) -> None:
        urn = f"urn:pulumi:{stack}::gpufleet::{kind}::{id_}"
        made = store.add(
            type_=kind, id_=id_, urn=urn, name=id_, inputs=inputs,
            outputs={"region": "us-east-1", **inputs}, at=0, ready_at=0,
        )  # fmt: skip
        store.change(made, status=status)

    for number, stack in enumerate(("dev", "prod", "prod")):
        make("aws:ec2/eip:Eip", f"eipalloc-{number}", stack, domain="vpc")
        make("aws:ec2/subnet:Subnet", f"subnet-{number}", stack, availabilityZoneId=f"use1-az{number % 2 + 1}")
        make("aws:ec2/natGateway:NatGateway", f"nat-{number}", stack, subnetId=f"subnet-{number}")
    make("aws:ec2/natGateway:NatGateway", "nat-failed", "prod", "failed", subnetId="subnet-0")
    assert account.network_use("elastic_ips") == {"": ExistingResources(1, 2)}
    assert account.network_use("nat_gateways") == {
        "use1-az1": ExistingResources(1, 1),
        "use1-az2": ExistingResources(0, 1),
    }
    assert account.network_use("vpcs") == {}


def test_there_is_no_azure_to_ask() -> None:
    with pytest.raises(UserError, match="does not simulate an Azure subscription's quotas"):
        no_azure("eastus")
