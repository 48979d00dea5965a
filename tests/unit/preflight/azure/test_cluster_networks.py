"""Existing subnets of AKS clusters: whether the live NAT gateway's address may reach the API server."""

import pytest

from gpufleet.preflight.azure.cluster_networks import validate_cluster_networks
from gpufleet.preflight.query_results import QueryRunner
from tests.policies.raw_program import plan_from

NODES, GPUS = "/subscriptions/s/subnets/nodes", "/subscriptions/s/subnets/gpus"
CLUSTER = "azure-native:containerservice:ManagedCluster"
NO_GATEWAY = f"{NODES}: has no NAT gateway with a public address, and the cluster's nodes go out through one"
REFUSED = (
    "fleet: authorized_ranges=[203.0.113.0/24]: the nodes reach the API server through a NAT gateway whose address is "
    "not included, and cannot register; add the public address of the NAT gateway: 20.1.2.3/32 "
    "[azure-cluster-nodes-reach-api]"
)


class Subscription:
    """outbound: subnet id -> ranges; an exception is raised."""

    def __init__(self, outbound):
        self.outbound, self.asked = outbound, []

    def outbound_addresses(self, subnet):
        self.asked.append(subnet)
        if isinstance(self.outbound, Exception):
            raise self.outbound
        return self.outbound.get(subnet, ())


def program(*ranges, outbound="userAssignedNATGateway", subnet=NODES, **more):
    inputs = {
        "location": "eastus",
        "agentPoolProfiles": [{"name": "system", "vnetSubnetID": subnet}],
        "networkProfile": {"outboundType": outbound},
        "apiServerAccessProfile": {"authorizedIPRanges": list(ranges)},
    }
    return {"fleet": {"type": CLUSTER, "inputs": inputs}, **more}


def check(program, outbound):
    queries, subscription = QueryRunner(), Subscription(outbound)
    found = validate_cluster_networks(plan_from(program), lambda region: subscription, queries)
    return [each.finding for each in found], queries.reasons, subscription.asked


@pytest.mark.parametrize(
    ("ranges", "addresses", "status"),
    [
        (["203.0.113.0/24", "20.1.2.3/32"], ["20.1.2.3/32"], "pass"),
        (["20.1.2.0/24"], ["20.1.2.3/32"], "pass"),
        (["20.1.2.3"], ["20.1.2.3/32"], "pass"),
        (["20.1.2.3/32"], ["20.1.2.3/32", "20.1.4.0/30"], "fail"),
        (["20.1.2.3/32", "20.1.4.0/31"], ["20.1.2.3/32", "20.1.4.0/30"], "fail"),
        (["anywhere"], ["20.1.2.3/32"], "fail"),
        (["203.0.113.0/24", "${address.ipAddress}"], ["20.1.2.3/32"], "unverified"),
        (["20.1.2.3/32", "${address.ipAddress}"], ["20.1.2.3/32"], "pass"),
    ],
)
def test_the_ranges_include_the_gateways_addresses(ranges, addresses, status):
    address = {"type": "azure-native:network:PublicIPAddress", "inputs": {}}
    found, reasons, _ = check(program(*ranges, address=address), {NODES: addresses})
    assert ([each.status.value for each in found], reasons) == ([status], [])


def test_the_address_that_is_missing_is_named():
    found, _, _ = check(program("203.0.113.0/24"), {NODES: ["20.1.2.3/32"]})
    assert [each.line("fleet") for each in found] == [REFUSED]


def test_a_subnet_without_a_gateway_is_not_verified_and_says_why():
    found, reasons, _ = check(program("203.0.113.0/24"), {})
    assert ([each.status.value for each in found], reasons) == (["unverified"], [NO_GATEWAY])


def test_what_may_not_be_asked_is_not_verified(denied):
    found, reasons, _ = check(program("203.0.113.0/24"), denied)
    assert ([each.status.value for each in found], reasons) == (["unverified"], ["ec2: denied"])


@pytest.mark.parametrize(
    "given",
    [
        program(),
        program("203.0.113.0/24", outbound="loadBalancer"),
        program("203.0.113.0/24", outbound="userDefinedRouting"),
        program("203.0.113.0/24", subnet=None),
        program("203.0.113.0/24", subnet="${own.id}", own={"type": "azure-native:network:Subnet", "inputs": {}}),
    ],
    ids=["no-ranges", "load-balancer", "routes", "no-subnet", "subnet-of-the-program"],
)
def test_nothing_is_asked_where_there_is_nothing_to_compare(given):
    assert check(given, {}) == ([], [], [])


def test_pools_in_a_subnet_of_their_own_are_asked_for_too():
    inputs = {"resourceName": "${fleet.name}", "vnetSubnetID": GPUS}
    gpus = {"type": "azure-native:containerservice:AgentPool", "inputs": inputs}
    elsewhere = gpus | {"inputs": {"resourceName": "theirs", "vnetSubnetID": "/subscriptions/s/subnets/theirs"}}
    given = program("20.1.2.3/32", gpus=gpus, twin=gpus, elsewhere=elsewhere)
    found, _, asked = check(given, {NODES: ["20.1.2.3/32"], GPUS: ["20.9.9.9/32"]})
    assert ([each.status.value for each in found], asked) == (["pass", "fail"], [NODES, GPUS])
