"""VPC endpoints: S3 always, the others where there is no NAT or where they are asked for."""

from gpufleet.aws.network import Network, NetworkArgs
from gpufleet.aws.vpc_endpoints import PRIVATE_CLUSTER_SERVICES
from tests.components.recorder import MARK, UNKNOWN, Recording, construct

ZONES = ["use1-az1", "use1-az2"]
TAGS = {"owner": "ml", "project": "speech", **MARK}

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROUTE = "aws:ec2/route:Route"
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


def test_s3_endpoint_serves_every_private_subnet(preview):
    assert build(preview).inputs(ENDPOINT) == {
        "net-s3": {
            "vpcId": id_of("net-vpc", preview),
            "serviceName": "com.amazonaws.us-east-1.s3",
            "vpcEndpointType": "Gateway",
            "routeTableIds": [id_of(f"net-private-{zone}-routes", preview) for zone in ZONES],
            "tags": named("net-s3"),
        }
    }


def test_no_nat_means_endpoints_and_nothing_public(preview):
    recording = build(preview, nat="none")
    absent = (NAT, ROUTE, "aws:ec2/eip:Eip", "aws:ec2/internetGateway:InternetGateway")
    assert [recording.names(kind) for kind in absent] == [[]] * 4
    assert recording.names(SUBNET) == ["net-private-use1-az1", "net-private-use1-az2"]
    endpoints = recording.inputs(ENDPOINT)
    assert {each["serviceName"] for each in endpoints.values()} == {
        f"com.amazonaws.us-east-1.{service}" for service in (*PRIVATE_CLUSTER_SERVICES, "s3")
    }
    assert endpoints["net-endpoint-ecr-api"] == {
        "vpcId": id_of("net-vpc", preview),
        "serviceName": "com.amazonaws.us-east-1.ecr.api",
        "vpcEndpointType": "Interface",
        "privateDnsEnabled": True,
        "subnetIds": [id_of(f"net-private-{zone}", preview) for zone in ZONES],
        "securityGroupIds": [id_of("net-endpoints", preview)],
        "tags": named("net-endpoint-ecr-api"),
    }
    assert recording.inputs("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule") == {
        "net-endpoints-https": {
            "securityGroupId": id_of("net-endpoints", preview),
            "cidrIpv4": "10.0.0.0/16",
            "ipProtocol": "tcp",
            "fromPort": 443,
            "toPort": 443,
            "description": "HTTPS from the VPC",
            "tags": named("net-endpoints-https"),
        }
    }
    assert recording.inputs("aws:ec2/securityGroup:SecurityGroup") == {
        "net-endpoints": {
            "vpcId": id_of("net-vpc", preview),
            "description": "AWS services inside the VPC",
            "tags": named("net-endpoints"),
        }
    }


def test_chosen_endpoints_beside_nat(preview):
    recording = build(preview, interface_endpoints=["ecr.dkr"])
    assert recording.names(ENDPOINT) == ["net-endpoint-ecr-dkr", "net-s3"]
