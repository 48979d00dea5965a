"""The simulated clouds count what an account may hold as the clouds do: by region, NAT gateways by zone."""

from dataclasses import replace
from pathlib import Path

import pytest

from gpufleet.preflight.aws.facts import ExistingResources
from gpufleet_rehearsal.account_facts import SimulatedAws
from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.cloud.interpreter import ProvisioningFailed
from gpufleet_rehearsal.cloud.seed_resources import seed_account
from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare
from gpufleet_rehearsal.table.model import ScenarioResource
from gpufleet_rehearsal.workspace import Workspace
from tests.rehearsal.scenarios import AWS, AZURE, Scenario, in_scenario, open_scenario

HERE, THERE = "us-east-1", "eu-west-1"
COUNTED = {
    "elastic_ips": (
        "aws:ec2/eip:Eip",
        {"domain": "vpc"},
        "AddressLimitExceeded: The maximum number of addresses has been reached.",
    ),
    "vpcs": (
        "aws:ec2/vpc:Vpc",
        {"cidrBlock": "10.0.0.0/16"},
        "VpcLimitExceeded: The maximum number of VPCs has been reached.",
    ),
    "internet_gateways": (
        "aws:ec2/internetGateway:InternetGateway",
        {},
        "InternetGatewayLimitExceeded: The maximum number of internet gateways has been reached.",
    ),
    "nat_gateways": (
        "aws:ec2/natGateway:NatGateway",
        {"subnetId": "${subnet.id}", "connectivityType": "private"},
        "NatGatewayLimitExceeded: Performing this operation would exceed the limit of 5 NAT gateways",
    ),
}
"""What is counted: its type, inputs of one, and what AWS says of one too many."""


def in_region(scenario: Scenario, region: str) -> Scenario:
    """The same account, as a provider of another region sees it."""
    cloud = scenario.cloud
    return Scenario(replace(cloud, settings=cloud.settings.model_copy(update={"region": region})), scenario.clock, {})


def with_subnet(scenario: Scenario, zone: str, number: int = 0) -> Scenario:
    """The scenario with a subnet in a zone, in which NAT gateways are made."""
    cidr = f"10.{number}.0.0/16"
    scenario.add(ScenarioResource(name="vpc", type="aws:ec2/vpc:Vpc", inputs={"cidrBlock": cidr}))
    inputs = {"vpcId": "${vpc.id}", "cidrBlock": cidr, "availabilityZoneId": zone}
    scenario.add(ScenarioResource(name="subnet", type="aws:ec2/subnet:Subnet", inputs=inputs))
    return scenario


def make(scenario: Scenario, counted: str, number: int) -> None:
    type_, inputs, _ = COUNTED[counted]
    for _ in range(number):
        scenario.create(type_, f"one-{len(scenario.state())}", inputs)


def pair(directory: Path, counted: str) -> tuple[Scenario, Scenario]:
    """The account seen in two regions."""
    here = open_scenario(AWS, directory)
    there = in_region(here, THERE)
    if counted == "nat_gateways":
        with_subnet(here, "use1-az1")
        with_subnet(there, "euw1-az1", 1)
    return here, there


@pytest.mark.parametrize("counted", COUNTED)
def test_two_regions_hold_five_each_and_neither_a_sixth(tmp_path: Path, counted: str) -> None:
    said = COUNTED[counted][2]
    for scenario in pair(tmp_path, counted):
        make(scenario, counted, 5)
        before = scenario.state()
        with pytest.raises(CloudError) as refused:
            make(scenario, counted, 1)
        assert str(refused.value) == said
        assert scenario.state() == before


@pytest.mark.parametrize("counted", ["elastic_ips", "vpcs", "internet_gateways"])
def test_region_of_a_resource_itself_is_what_counts(tmp_path: Path, counted: str) -> None:
    here, _ = pair(tmp_path, counted)
    make(here, counted, 5)
    type_, inputs, _ = COUNTED[counted]
    for number in range(5):
        here.create(type_, f"there-{number}", {**inputs, "region": THERE})
    with pytest.raises(CloudError):
        here.create(type_, "there-5", {**inputs, "region": THERE})


def test_nat_gateways_are_counted_by_zone(tmp_path: Path) -> None:
    here, _ = pair(tmp_path, "nat_gateways")
    make(here, "nat_gateways", 5)
    make(with_subnet(here, "use1-az2", 2), "nat_gateways", 5)
    with pytest.raises(CloudError):
        make(here, "nat_gateways", 1)


@pytest.mark.parametrize("counted", COUNTED)
def test_preflight_counts_as_the_cloud_does(tmp_path: Path, counted: str) -> None:
    for scenario, number in zip(pair(tmp_path, counted), (2, 3), strict=True):
        make(scenario, counted, number)
    if counted == "vpcs":
        tmp_path.joinpath("rehearsal.dev.yaml").write_text("resource_quotas: {vpcs: 6}")
        seed_account(scenario.cloud, tmp_path / "rehearsal.dev.yaml")
    for region, number in ((HERE, 2), (THERE, 3)):
        asked = SimulatedAws(tmp_path, region, "dev")
        assert [held.others for held in asked.network_use(counted).values()] == [number]
        assert asked.resource_limit(counted) == (6 if counted == "vpcs" else 5)


@pytest.mark.parametrize(
    ("raised", "counted", "most"),
    [
        ("elastic_ips: 7", "elastic_ips", 7),
        ("vpcs: 6", "vpcs", 6),
        # AWS raises it with the one of VPCs.
        ("vpcs: 6", "internet_gateways", 6),
        ("nat_gateways: 8, vpcs: 9", "nat_gateways", 8),
        ("vpcs: 9", "elastic_ips", 5),
    ],
)
def test_accounts_file_raises_a_limit_in_every_region(tmp_path: Path, raised: str, counted: str, most: int) -> None:
    scenarios = pair(tmp_path, counted)
    file = tmp_path / "rehearsal.dev.yaml"
    file.write_text(f"resource_quotas: {{{raised}}}\n")
    seed_account(scenarios[0].cloud, file)
    for scenario in scenarios:
        make(scenario, counted, most)
        with pytest.raises(CloudError) as refused:
            make(scenario, counted, 1)
        assert str(refused.value) == COUNTED[counted][2].replace("limit of 5", f"limit of {most}")
    # It is what the file says now.
    file.write_text("")
    seed_account(scenarios[0].cloud, file)
    assert scenarios[0].cloud.view.limits[counted] == 5


def test_what_the_account_holds_lies_where_the_environment_does(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(Workspace, "open_stack", lambda *_: None)
    (tmp_path / "Pulumi.yaml").write_text("{name: theirs, runtime: python}")
    (tmp_path / "Pulumi.dev.yaml").write_text(f"config: {{aws:region: {THERE}}}")
    held = "- {type: 'aws:ec2/eip:Eip', id: eipalloc-1, name: theirs, inputs: {domain: vpc}}\n"
    (tmp_path / "rehearsal.dev.yaml").write_text(held)
    home = Workspace.of(tmp_path)
    prepare(home, RehearsalPlan("dev"))
    assert SimulatedAws(home.root, THERE, "dev").network_use("elastic_ips") == {"": ExistingResources(0, 1)}
    assert SimulatedAws(home.root, HERE, "dev").network_use("elastic_ips") == {}


VCPUS = [
    (AWS, "eks-node-group-over-vcpu-quota", "nodeGroupName", {}, None, "region"),
    # The pool has no location of its own: its cluster's is what counts.
    (AZURE, "aks-pool-over-the-familys-quota", "agentPoolName", {"resourceName": "assigned"}, "assigned", "location"),
    (AZURE, "reservation-over-the-familys-quota", "capacityReservationName", {}, None, "location"),
]
"""A row on vCPUs: which property names a resource, what the first has of its own, and what lies in the place that
counts (the first itself, or something of the scenario), by which output."""


@pytest.mark.parametrize(("table", "row", "name", "own", "lies", "output"), VCPUS, ids=[case[1] for case in VCPUS])
def test_vcpus_of_another_region_do_not_count(table, row, name, own, lies, output, tmp_path: Path) -> None:
    (row,) = (each for each in table.refusals if each.name == row)
    # What fits for once fills the quota.
    scenario = in_scenario(table, row.scenario, tmp_path, row.neighbour)
    first = scenario.create(row.type, "first", {**row.neighbour.inputs, name: "first", **own})
    place = scenario.resource(lies) if lies else first
    scenario.cloud.store.change(place, outputs={**place.outputs, output: "far-away-1"})
    second = scenario.create(row.type, "second", {**row.neighbour.inputs, name: "second"})
    assert scenario.cloud.status(second) == "available"
    with pytest.raises((CloudError, ProvisioningFailed), match=row.code):
        scenario.create(row.type, "third", {**row.neighbour.inputs, name: "third"})
