"""Network: exact children in both engine modes, the existing VPC."""

import pytest

from gpufleet.aws.network import Network, NetworkArgs
from gpufleet.aws.vpc_endpoints import PRIVATE_CLUSTER_SERVICES
from tests.components.recorder import MARK, UNKNOWN, Recording, construct

ZONES = ["use1-az1", "use1-az2"]
TAGS = {"owner": "ml", "project": "speech", **MARK}

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROUTE = "aws:ec2/route:Route"
TABLE = "aws:ec2/routeTable:RouteTable"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
NAT = "aws:ec2/natGateway:NatGateway"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"


def build(preview: bool, **more: object) -> Recording[Network]:
    args: NetworkArgs = {"region": "us-east-1", "zones": ZONES, "tags": TAGS}
    args.update(more)  # type: ignore[typeddict-item]
    return construct(lambda: Network("net", args), preview)


def id_of(name: str, preview: bool) -> str:
    return UNKNOWN if preview else f"{name}-id"


def named(name: str, **more: str) -> dict[str, str]:
    return {**TAGS, "Name": name, **more}


def test_vpc(preview):
    assert build(preview).inputs(VPC) == {
        "net-vpc": {
            "cidrBlock": "10.0.0.0/16",
            "enableDnsHostnames": True,
            "enableDnsSupport": True,
            "tags": named("net-vpc"),
        }
    }


def test_default_security_group_has_no_rules(preview):
    assert build(preview).inputs("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup") == {
        "net-default-group": {
            "vpcId": id_of("net-vpc", preview),
            "ingress": [],
            "egress": [],
            "tags": named("net-default-group"),
        }
    }


def test_subnets(preview):
    def subnet(name: str, zone: str, cidr: str, role: str) -> dict[str, object]:
        return {
            "vpcId": id_of("net-vpc", preview),
            "availabilityZoneId": zone,
            "cidrBlock": cidr,
            "mapPublicIpOnLaunch": False,
            "tags": named(name, **{f"kubernetes.io/role/{role}": "1"}),
        }

    assert build(preview).inputs(SUBNET) == {
        "net-private-use1-az1": subnet("net-private-use1-az1", "use1-az1", "10.0.64.0/18", "internal-elb"),
        "net-private-use1-az2": subnet("net-private-use1-az2", "use1-az2", "10.0.128.0/18", "internal-elb"),
        "net-public-use1-az1": subnet("net-public-use1-az1", "use1-az1", "10.0.0.0/24", "elb"),
        "net-public-use1-az2": subnet("net-public-use1-az2", "use1-az2", "10.0.1.0/24", "elb"),
    }


def test_karpenter_finds_private_subnets_only(preview):
    tags = {subnet.name: subnet.inputs["tags"] for subnet in build(preview, cluster_name="fleet").of(SUBNET)}
    assert {name: each.get("karpenter.sh/discovery") for name, each in tags.items()} == {
        "net-private-use1-az1": "fleet",
        "net-private-use1-az2": "fleet",
        "net-public-use1-az1": None,
        "net-public-use1-az2": None,
    }


def test_routes_through_a_single_nat(preview):
    recording = build(preview)

    def private(zone: str) -> dict[str, object]:
        return {
            "routeTableId": id_of(f"net-private-{zone}-routes", preview),
            "destinationCidrBlock": "0.0.0.0/0",
            "natGatewayId": id_of("net-nat-use1-az1", preview),
        }

    assert recording.inputs(ROUTE) == {
        "net-private-use1-az1-default": private("use1-az1"),
        "net-private-use1-az2-default": private("use1-az2"),
        "net-public-default": {
            "routeTableId": id_of("net-public-routes", preview),
            "destinationCidrBlock": "0.0.0.0/0",
            "gatewayId": id_of("net-internet", preview),
        },
    }
    assert recording.inputs(NAT) == {
        "net-nat-use1-az1": {
            "subnetId": id_of("net-public-use1-az1", preview),
            "allocationId": id_of("net-nat-use1-az1-address", preview),
            "tags": named("net-nat-use1-az1"),
        }
    }
    assert recording.inputs("aws:ec2/eip:Eip") == {
        "net-nat-use1-az1-address": {"domain": "vpc", "tags": named("net-nat-use1-az1-address")}
    }
    assert recording.inputs("aws:ec2/internetGateway:InternetGateway") == {
        "net-internet": {"vpcId": id_of("net-vpc", preview), "tags": named("net-internet")}
    }


def test_route_tables_and_their_subnets(preview):
    recording = build(preview)
    tables = ["net-private-use1-az1-routes", "net-private-use1-az2-routes", "net-public-routes"]
    assert recording.inputs(TABLE) == {
        table: {"vpcId": id_of("net-vpc", preview), "tags": named(table)} for table in tables
    }
    pairs = {
        "net-private-use1-az1": "net-private-use1-az1-routes",
        "net-private-use1-az2": "net-private-use1-az2-routes",
        "net-public-use1-az1": "net-public-routes",
        "net-public-use1-az2": "net-public-routes",
    }
    assert recording.inputs(ASSOCIATION) == {
        f"{subnet}-association": {"subnetId": id_of(subnet, preview), "routeTableId": id_of(table, preview)}
        for subnet, table in pairs.items()
    }


def test_nat_per_zone(preview):
    recording = build(preview, nat="per-zone")
    assert recording.names(NAT) == ["net-nat-use1-az1", "net-nat-use1-az2"]
    assert {name: route.get("natGatewayId") for name, route in recording.inputs(ROUTE).items()} == {
        "net-private-use1-az1-default": id_of("net-nat-use1-az1", preview),
        "net-private-use1-az2-default": id_of("net-nat-use1-az2", preview),
        "net-public-default": None,
    }


def test_a_change_of_nat_keeps_subnets_and_route_tables(preview):
    single, per_zone = build(preview), build(preview, nat="per-zone")
    for kind in (SUBNET, TABLE, ASSOCIATION):
        assert single.inputs(kind) == per_zone.inputs(kind)


def test_an_appended_zone_changes_nothing_that_exists(preview):
    before, after = build(preview), build(preview, zones=[*ZONES, "use1-az4"])
    for old in before.resources:
        new = after.one(old.type, old.name)
        if old.type != ENDPOINT:  # the S3 endpoint takes one more route table, in place
            assert new.inputs == old.inputs


def test_outputs(preview):
    private = {zone: id_of(f"net-private-{zone}", preview) for zone in ZONES}
    assert build(preview).outputs["net"] == {
        "vpc_id": id_of("net-vpc", preview),
        "cidr": "10.0.0.0/16",
        "private_subnet_ids": private,
        "node_subnet_ids": private,
        "private_route_table_ids": {zone: id_of(f"net-private-{zone}-routes", preview) for zone in ZONES},
        "public_subnet_ids": {zone: id_of(f"net-public-{zone}", preview) for zone in ZONES},
        "nat_public_ips": {"use1-az1": UNKNOWN if preview else "net-nat-use1-az1-address-ip"},
    }


def test_only_nat_and_its_address_wait_explicitly(preview):
    waits = {each.name: set(each.depends_on) for each in build(preview, nat="per-zone").resources if each.depends_on}
    assert waits == {
        name: {"net-internet"} for zone in ZONES for name in (f"net-nat-{zone}", f"net-nat-{zone}-address")
    }


@pytest.mark.parametrize(
    ("nat", "way_out"),
    [
        ("single", {"net-private-use1-az2-default", "net-public-default", "net-public-use1-az1-association"}),
        ("per-zone", {"net-private-use1-az2-default", "net-public-default", "net-public-use1-az2-association"}),
        (
            "none",
            {"net-s3", "net-endpoints-https"}
            | {f"net-endpoint-{service.replace('.', '-')}" for service in PRIVATE_CLUSTER_SERVICES},
        ),
    ],
)
def test_nodes_wait_for_the_way_out_and_others_do_not(preview, nat, way_out):
    from pulumi_aws import efs, eks

    def with_users() -> None:
        network = Network("net", {"region": "us-east-1", "zones": ZONES, "nat": nat})
        eks.NodeGroup(
            "nodes",
            cluster_name="fleet",
            node_role_arn="role",
            scaling_config={"min_size": 0, "max_size": 1, "desired_size": 0},
            subnet_ids=[network.node_subnet_ids["use1-az2"]],
        )
        efs.MountTarget("mount", file_system_id="fs-1", subnet_id=network.private_subnet_ids["use1-az2"])

    recording = construct(with_users, preview)
    nodes = recording.one("aws:eks/nodeGroup:NodeGroup")
    subnet = "net-private-use1-az2"
    assert nodes.property_dependencies["subnetIds"] == {subnet, f"{subnet}-association"} | way_out
    assert nodes.inputs["subnetIds"] == [id_of(subnet, preview)]
    assert recording.one("aws:efs/mountTarget:MountTarget").property_dependencies == {"subnetId": {subnet}}


def test_existing_vpc_makes_nothing(preview):
    recording = construct(
        lambda: Network(
            "net",
            {
                "region": "us-east-1",
                "zones": ZONES,
                "vpc_id": "vpc-1",
                "private_subnet_ids": {"use1-az2": "subnet-2", "use1-az1": "subnet-1", "use1-az4": "subnet-4"},
                "public_subnet_ids": {"use1-az1": "subnet-9"},
                "tags": TAGS,
            },
        ),
        preview,
    )
    assert [each.name for each in recording.resources] == ["net"]
    assert recording.outputs["net"] == {
        "vpc_id": "vpc-1",
        "cidr": "",
        "private_subnet_ids": {"use1-az1": "subnet-1", "use1-az2": "subnet-2"},
        "node_subnet_ids": {"use1-az1": "subnet-1", "use1-az2": "subnet-2"},
        "private_route_table_ids": {},
        "public_subnet_ids": {"use1-az1": "subnet-9"},
        "nat_public_ips": {},
    }


def test_without_tags_only_the_mark_and_the_name(preview):
    recording = construct(lambda: Network("net", {"region": "us-east-1", "zones": ZONES}), preview)
    assert recording.one(VPC).inputs["tags"] == {**MARK, "Name": "net-vpc"}
