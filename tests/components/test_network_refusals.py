"""Network: every refusal, all errors at once, before anything is registered."""

import pytest

from gpufleet.aws.network import Network
from tests.components.recorder import refusal

ZONES = ["use1-az1", "use1-az2"]

REFUSALS = {
    "everything at once": (
        {"zones": ["use1-az1", "usw2-az1"], "cidr": "10.0.0.0/8", "nat": "one", "interface_endpoints": []},
        [
            "net: zones=usw2-az1: is a zone of us-west-2, not of us-east-1; use use1-az1, use1-az2, use1-az3, "
            "use1-az4, use1-az5 or use1-az6 [aws-zone-known]",
            "net: nat=one: is not an allowed value; did you mean none? (use none, single or per-zone) "
            "[any-argument-word]",
            "net: cidr=10.0.0.0/8: is not a range of /16 to /28; use one such as 10.0.0.0/16 [aws-network-cidr]",
        ],
    ),
    "no way to EKS": (
        {"nat": "none", "interface_endpoints": ["ecr.api", "ecr.dkr", "sts"]},
        [
            "net: interface_endpoints=[ecr.api, ecr.dkr, sts]: without NAT nodes cannot reach ec2 and eks, and never "
            "join; set nat=single, or give these endpoints too (leave the argument out to get all that EKS needs) "
            "[aws-network-way-out]",
        ],
    ),
    "cidr too small": (
        {"cidr": "10.0.0.0/26"},
        [
            "net: cidr=10.0.0.0/26: has no room for the subnets of 3 zones; use at least a /24, better a /16: every "
            "pod takes an address [aws-network-address-plan]"
        ],
    ),
    "no room for another zone": (
        {"max_zones": 1},
        [
            "net: max_zones=1: the address plan keeps no room for 2 zones; use 2 to 7 [aws-network-max-zones]",
        ],
    ),
    "more zones than any region has": (
        {"max_zones": 8},
        ["net: max_zones=8: is more than any region has; use 2 to 7 [aws-network-max-zones]"],
    ),
    "subnets without their VPC": (
        {"private_subnet_ids": {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}},
        [
            "net: private_subnet_ids=given: belongs to an existing VPC; give vpc_id as well, or remove it "
            "[aws-network-existing-or-new]"
        ],
    ),
    "VPC without subnets, with NAT": (
        {"vpc_id": "vpc-1", "nat": "single"},
        [
            "net: private_subnet_ids=[]: the existing VPC has no subnet for use1-az1 and use1-az2; give a private "
            "subnet for use1-az1 and use1-az2, or take it out of zones [aws-network-existing-subnets]",
            "net: nat=given: shapes a new VPC and changes nothing in an existing one; remove it or vpc_id "
            "[aws-network-existing-or-new]",
        ],
    ),
    "misspelt argument": (
        {"zone": ["use1-az1"]},
        ["net: zone=[use1-az1]: unknown argument; did you mean zones? [any-argument-known]"],
    ),
}


@pytest.mark.parametrize(("more", "lines"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(preview, more, lines):
    assert refusal(lambda: Network("net", {"region": "us-east-1", "zones": ZONES, **more}), preview) == lines
