"""The line between the site and a simulated EKS cluster with a private API: down until the site's router is configured.

A rehearsal runs at the site. A cluster whose VPC has no VPN is reached: there, it runs in the VPC.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path

from gpufleet.rules import coerce
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.onprem_cluster import ROUTER

CLUSTER = "aws:eks/cluster:Cluster"
GATEWAY = "aws:ec2/vpnGateway:VpnGateway"
CONNECTION = "aws:ec2/vpnConnection:VpnConnection"
SUBNET = "aws:ec2/subnet:Subnet"


def down(directory: Path, server: str) -> str:
    """Why the API at `server` does not answer, in the words of a client; empty where it does.

    Sources: pulumi/pulumi-eks#1134 (the provider's words, for a cluster with a private endpoint only),
    kubernetes-sigs/aws-load-balancer-controller#2991 (the end: the name resolves to private addresses, which nothing
    leads to).
    """
    database = directory / "cloud.db"
    if not database.exists():
        return ""
    store = Store(database)
    cluster = next((each for each in store.resources(CLUSTER) if each.view.get("endpoint") == server), None)
    if cluster is None or not is_down(store, cluster):
        return ""
    return (
        "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: Get "
        f'"{server}/openapi/v2?timeout=32s": dial tcp {_address(store, cluster)}:443: i/o timeout'
    )


def is_down(store: Store, cluster: SimulatedResource) -> bool:
    """Whether the cluster is reached over a line only, and that is down."""
    network = coerce.mapping(cluster.view, "vpcConfig")
    if network.get("endpointPublicAccess") or store.fact(ROUTER):
        return False
    gateways = {each.id for each in store.resources(GATEWAY) if each.view.get("vpcId") == network.get("vpcId")}
    return any(each.view.get("vpnGatewayId") in gateways for each in store.resources(CONNECTION))


def _address(store: Store, cluster: SimulatedResource) -> str:
    """An address of the API's interfaces, which are in the cluster's subnets."""
    subnet = store.get(SUBNET, coerce.texts(coerce.mapping(cluster.view, "vpcConfig"), "subnetIds")[0])
    network = ipaddress.IPv4Network(str(subnet.inputs["cidrBlock"]) if subnet else "10.0.0.0/24")
    return str(network.network_address + 7)
