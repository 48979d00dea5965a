"""Addresses of subnets: what they hand out, and what clusters, nodes and others hold of them."""

import pytest

from gpufleet_rehearsal.cloud.addresses import free_addresses
from tests.rehearsal.scenarios import AWS, in_scenario


@pytest.mark.parametrize(
    ("subnet", "without", "free"),
    [
        # 16 less the five that AWS keeps.
        ("tiny", "nodes", 11),
        ("crowded", "nodes", 4),
        ("crowded", "crowd", 11),
        ("full", "nodes", 0),
        # An interface of each of three control planes, and a node; another may lie in another subnet.
        ("private-1", "crowd", 247),
        ("private-1", "cluster", 248),
        # A NAT gateway.
        ("public", "nodes", 250),
        # No subnet.
        ("vpc", "nodes", None),
    ],
)
def test_free_addresses(subnet, without, free, tmp_path):
    scenario = in_scenario(AWS, "eks", tmp_path)
    view = scenario.cloud.view
    assert free_addresses(view, scenario.resource(subnet), scenario.resource(without)) == free


def test_endpoints_and_mount_targets_hold_one_each(tmp_path):
    scenario = in_scenario(AWS, "eks", tmp_path)
    tiny, other = scenario.resource("tiny"), scenario.resource("cluster")
    vpc, service = scenario.resource("vpc").id, "com.amazonaws.us-east-1.sts"
    inputs = {"vpcId": vpc, "serviceName": service, "vpcEndpointType": "Interface", "subnetIds": [tiny.id]}
    endpoint = scenario.create("aws:ec2/vpcEndpoint:VpcEndpoint", "sts", inputs)
    files = {"fileSystemId": "${data.id}", "subnetId": "${tiny.id}"}
    scenario.create("aws:efs/mountTarget:MountTarget", "files", files)
    assert free_addresses(scenario.cloud.view, tiny, other) == 9
    scenario.delete(endpoint)
    assert free_addresses(scenario.cloud.view, tiny, other) == 10
