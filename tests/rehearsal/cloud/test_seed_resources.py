"""What the simulated account holds before anybody's `up`."""

import asyncio
from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.seed_resources import seed_account

VPC = "aws:ec2/vpc:Vpc"
ROW = f"- {{type: '{VPC}', id: vpc-1, name: theirs, inputs: {{cidrBlock: 10.0.0.0/16}}}}\n"


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return open_cloud("aws", tmp_path)


def furnished(cloud: Cloud, folder: Path, text: str | bytes) -> None:
    file = folder / "rehearsal.dev.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    seed_account(cloud, file)


def test_rows_are_made_once_and_stay(cloud: Cloud, tmp_path: Path) -> None:
    furnished(cloud, tmp_path, ROW)
    made = cloud.store.get(VPC, "vpc-1")
    assert made is not None
    assert (made.name, made.inputs["cidrBlock"]) == ("theirs", "10.0.0.0/16")
    assert made.outputs["arn"] == "arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1"
    furnished(cloud, tmp_path, ROW.replace("10.0.0.0", "10.9.0.0"))
    assert cloud.store.get(VPC, "vpc-1") == made


def test_no_file_and_an_empty_one_are_an_empty_account(cloud: Cloud, tmp_path: Path) -> None:
    seed_account(cloud, tmp_path / "nowhere.yaml")
    furnished(cloud, tmp_path, "")
    assert cloud.store.resources() == []


FAULTS: list[tuple[str | bytes, str]] = [
    ("- type: x\n", "0.id: Field required"),
    (ROW + ROW.replace("vpc-1", "7"), "1.id: Input should be a valid string"),
    (ROW.replace("inputs", "input"), "0.input: unknown key; must be one of type, id, name, inputs"),
    ("7\n", "the file: Input should be a valid list"),
    (
        "a: b\n",
        "a: unknown key; must be one of holds, quotas, resource_quotas, restricted_zones, nodes, storage_classes, "
        "router_configured",
    ),
    ("holds: 7\n", "holds: Input should be a valid list"),
    (
        "quotas: [{family: PP, market: spot, limit: 1}]\n",
        "quotas[0].family=PP: unknown quota family; did you mean P? [config-quota]",
    ),
    ("resource_quotas: {vpcs: -1}\n", "resource_quotas.vpcs: Input should be greater than or equal to 0"),
    (
        "resource_quotas: {internet_gateways: 9}\n",
        "resource_quotas.internet_gateways: is not a quota that AWS raises; did you mean vpcs?",
    ),
    (
        "resource_quotas: {elastic_ip: 9}\n",
        "resource_quotas.elastic_ip: is not a quota that AWS raises; did you mean elastic_ips?",
    ),
    (
        "resource_quotas: {batch_queues: 60}\n",
        "resource_quotas.batch_queues: is not a quota that AWS raises; use one of the 27 known, for instance "
        "access_points_per_file_system",
    ),
    (
        "restricted_zones: {Standard_NC4as_T4_v3: ['1']}\n",
        "restricted_zones.Standard_NC4as_T4_v3.0: String should match pattern '^[a-z0-9]+-[1-3]$'",
    ),
    (": [", "line 1: is not YAML: did not find expected key"),
    (b"\xff\xfe\0", "line 1: is not UTF-8"),
    (
        ROW + ROW.replace(VPC, "aws:chime/voiceConnector:VoiceConnector"),
        "1.type: aws:chime/voiceConnector:VoiceConnector is not in the rehearsal's table; add a row to "
        "aws/types/chime.yaml: see "
        "docs/rehearsal.md",
    ),
]


@pytest.mark.parametrize(("text", "line"), FAULTS, ids=[line[:30] for _, line in FAULTS])
def test_unusable_file_is_one_line_and_makes_nothing(
    cloud: Cloud, tmp_path: Path, text: str | bytes, line: str
) -> None:
    with pytest.raises(UserError) as error:
        furnished(cloud, tmp_path, text)
    assert str(error.value) == f"{tmp_path / 'rehearsal.dev.yaml'}: {line}"
    assert cloud.store.resources() == []


def test_directory_in_its_place_is_one_line(cloud: Cloud, tmp_path: Path) -> None:
    (tmp_path / "rehearsal.dev.yaml").mkdir()
    with pytest.raises(UserError, match=r"rehearsal\.dev\.yaml: Is a directory$"):
        seed_account(cloud, tmp_path / "rehearsal.dev.yaml")


def test_quotas_are_those_of_the_file_as_it_is_now(cloud: Cloud, tmp_path: Path) -> None:
    text = "quotas:\n- {family: G and VT, market: on-demand, limit: 64, in_use: 16}\n"
    furnished(cloud, tmp_path, text + "- {family: P, market: spot, limit: 7}\n")
    assert [cloud.view.quota(family) for family in ("G", "P", "standard")] == [48, None, None]
    furnished(cloud, tmp_path, text.replace("64", "96"))
    assert cloud.view.quota("G") == 80
    furnished(cloud, tmp_path, "")
    assert cloud.view.quota("G") is None


def test_what_the_account_holds_counts_and_its_file_raises_the_limit(cloud: Cloud, tmp_path: Path) -> None:
    gateways = "".join(
        f"- {{type: 'aws:ec2/vpnGateway:VpnGateway', id: vgw-{number}, name: theirs-{number}}}\n" for number in range(5)
    )
    urn = "urn:pulumi:test::test::aws:ec2/vpnGateway:VpnGateway::ours"
    furnished(cloud, tmp_path, f"holds:\n{gateways}")
    with pytest.raises(CloudError, match=r"^VpnGatewayLimitExceeded: "):
        asyncio.run(cloud.create("aws:ec2/vpnGateway:VpnGateway", urn, {}))
    furnished(cloud, tmp_path, f"resource_quotas: {{vpn_gateways: 6}}\nholds:\n{gateways}")
    assert asyncio.run(cloud.create("aws:ec2/vpnGateway:VpnGateway", urn, {})).name == "ours"


def test_restricted_zones_are_those_of_the_file_as_it_is_now(tmp_path: Path) -> None:
    azure = open_cloud("azure-native", tmp_path)
    furnished(azure, tmp_path, "restricted_zones: {Standard_NC24ads_A100_v4: [eastus-1, eastus-3]}\n")
    size, zones = "Standard_NC24ads_A100_v4", ("eastus-1", "eastus-2", "eastus-3")
    assert [azure.view.restricted(size, zone) for zone in zones] == [True, False, True]
    assert not azure.view.restricted("Standard_NC4as_T4_v3", "eastus-1")
    furnished(azure, tmp_path, "")
    assert not azure.view.restricted(size, "eastus-1")


def test_azure_has_no_quotas_on_networks_in_a_rehearsal(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"rehearsal\.dev\.yaml: resource_quotas: not supported for azure-native"):
        furnished(open_cloud("azure-native", tmp_path), tmp_path, "resource_quotas: {vpcs: 9}\n")


def test_settings_go_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "rehearsal.json").write_text('{"quotas": {"G": 8}}')
    cloud = open_cloud("aws", tmp_path)
    furnished(cloud, tmp_path, "quotas: [{family: G and VT, market: on-demand, limit: 64}]\n")
    assert cloud.view.quota("G") == 8


def test_resources_may_stand_beside_quotas(cloud: Cloud, tmp_path: Path) -> None:
    furnished(cloud, tmp_path, f"holds:\n{ROW}")
    assert cloud.store.get(VPC, "vpc-1") is not None
