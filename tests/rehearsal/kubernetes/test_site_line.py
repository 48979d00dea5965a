"""The line between the site and a simulated cluster: down until the router is configured, for a private API only."""

import asyncio
import json

import pytest

from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.api import ApiUnreachable
from gpufleet_rehearsal.kubernetes.cluster import SimulatedCluster
from gpufleet_rehearsal.kubernetes.configuration import read_configuration
from gpufleet_rehearsal.kubernetes.engine_log import EngineLog
from gpufleet_rehearsal.kubernetes.site_line import CLUSTER, CONNECTION, GATEWAY, SUBNET, down
from gpufleet_rehearsal.onprem_cluster import ROUTER
from tests.rehearsal.fast_clock import FastClock

SERVER = "https://ABC.gr7.us-east-1.eks.rehearsal.invalid"
PRIVATE = {"vpcId": "vpc-1", "subnetIds": ["subnet-1"], "endpointPrivateAccess": True, "endpointPublicAccess": False}
TIMEOUT = (
    "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: Get "
    f'"{SERVER}/openapi/v2?timeout=32s": dial tcp 10.0.64.7:443: i/o timeout'
)


def store_with(folder, *, vpc="vpc-1", public=False, router="", connected=True):
    """A cluster, and a VPN to `vpc`."""
    store = Store(folder / "cloud.db")
    network = PRIVATE | {"endpointPublicAccess": public}
    things = {
        CLUSTER: {"name": "lab", "endpoint": SERVER, "vpcConfig": network},
        SUBNET: {"cidrBlock": "10.0.64.0/20"},
        GATEWAY: {"vpcId": vpc},
    } | ({CONNECTION: {"vpnGatewayId": "gateway-1"}} if connected else {})
    ids = {SUBNET: "subnet-1", GATEWAY: "gateway-1"}
    for type_, inputs in things.items():
        name = type_.rpartition(":")[2]
        store.add(
            type_=type_, id_=ids.get(type_, f"{name}-1"), urn=f"urn:{name}", name=name, inputs=inputs, outputs={},
            at=0, ready_at=0,
        )  # fmt: skip
    store.remember(ROUTER, router)
    return store


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, TIMEOUT),
        ({"router": "yes"}, ""),
        ({"public": True}, ""),
        ({"vpc": "vpc-2"}, ""),
        ({"connected": False}, ""),
    ],
    ids=["router not configured", "router configured", "public endpoint", "line of another VPC", "no line"],
)
def test_who_reaches_the_api(changes, words, tmp_path):
    store_with(tmp_path, **changes)
    assert down(tmp_path, SERVER) == words
    assert down(tmp_path, "https://other.rehearsal.invalid") == ""


@pytest.mark.parametrize(("scale", "seconds"), [(0, 0), (0.5, 15), (1, 30)])
def test_nothing_is_made_on_a_cluster_that_no_line_leads_to(scale, seconds, tmp_path):
    """After the client's time for a connection, of the cloud's seconds."""
    store_with(tmp_path)
    (tmp_path / "rehearsal.json").write_text(json.dumps({"control_plane": False, "latency_scale": scale}))
    kubeconfig = {
        "clusters": [{"name": "lab", "cluster": {"server": SERVER}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
        "users": [{"name": "lab", "user": {}}],
        "current-context": "lab",
    }
    configuration, clock = read_configuration({"kubeconfig": json.dumps(kubeconfig)}), FastClock()
    cluster = SimulatedCluster(tmp_path, configuration, clock, EngineLog(None))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    create = cluster.create("kubernetes:core/v1:Namespace", "urn:a", namespace, 1.0)
    with pytest.raises(ApiUnreachable) as caught:
        asyncio.run(create)
    assert str(caught.value) == TIMEOUT
    assert clock.at == seconds
