"""On-prem servers that run their scripts in a rehearsal: who joins, as which node, and who is rejected."""

import json
from types import SimpleNamespace

import pytest

from gpufleet.onprem.servers import onprem_servers_of
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.hybrid_join import (
    ACTIVATION,
    ACTIVATION_SECONDS,
    ANCHOR,
    CLUSTER,
    ENTRY,
    PROFILE,
    join,
)
from gpufleet_rehearsal.onprem_cluster import JOINED, NODES

SSM = {"activation_id": "a-1", "activation_code": "code"}
ANYWHERE = {"trust_anchor_arn": "arn:anchor", "profile_arn": "arn:profile", "role_arn": "arn:role"}
THERE = {
    CLUSTER: {"name": "lab", "remoteNetworkConfig": {"remoteNodeNetworks": {"cidrs": ["10.80.0.0/24"]}}},
    ENTRY: {"type": "HYBRID_LINUX"},
    ACTIVATION: {"activationCode": "code", "registrationLimit": 2},
    ANCHOR: {"arn": "arn:anchor"},
    PROFILE: {"arn": "arn:profile"},
}


def own(names, credentials=SSM):
    servers = {name: {"pool": "v100", "labels": {"gpufleet.dev/gpu": "V100"}, "taints": []} for name in names}
    output = {
        "cluster_name": "lab",
        "region": "us-east-1",
        "kind": "ssm" if credentials is SSM else "roles-anywhere",
        "credentials": credentials,
        "nfs": "10.80.0.5:/export",
        "kubernetes_version": "1.34",
        "nodeadm": {"version": "v1.0.9", "sha256": "a" * 64},
        "driver": "580-server",
        "nodes": servers,
    }
    return onprem_servers_of({"own_servers": output}, "lab")


class Clock:
    counts = True
    moment = 0.0

    def now(self):
        return self.moment


@pytest.fixture
def cloud(tmp_path):
    """A simulated cloud with all that servers need, and two of them at the site."""
    store = Store(tmp_path / "cloud.db")
    store.remember(NODES, json.dumps([{"name": "gpu-1", "gpus": 4}, {"name": "gpu-2", "gpus": 4}]))
    for type_, inputs in THERE.items():
        id_ = "a-1" if type_ == ACTIVATION else type_
        store.add(type_=type_, id_=id_, urn="urn", name="x", inputs=inputs, outputs={}, at=0.0, ready_at=0.0)
    return SimpleNamespace(store=store, clock=Clock())


def change(cloud, type_, **inputs):
    (resource,) = cloud.store.resources(type_)
    cloud.store.change(resource, inputs={**resource.inputs, **inputs})


def test_a_server_joins_once_with_the_labels_of_its_script(cloud):
    done = join(cloud, own(["gpu-1"]))
    assert [line.partition(": joined as node mi-")[0] for line in done.joined] == ["gpu-1"]
    node = json.loads(cloud.store.fact(JOINED))["gpu-1"]
    assert node["labels"] == {
        "gpufleet.dev/gpu": "V100",
        "gpufleet.dev/server": "gpu-1",
        "eks.amazonaws.com/compute-type": "hybrid",
    }
    again = join(cloud, own(["gpu-1", "gpu-2"]))
    assert ([line[:5] for line in again.joined], again.refused) == (["gpu-2"], [])
    assert json.loads(cloud.store.fact(JOINED))["gpu-1"] == node


def test_with_a_certificate_the_node_is_called_like_the_server(cloud):
    assert join(cloud, own(["gpu-1"], ANYWHERE)).joined == ["gpu-1: joined as node gpu-1"]


def test_a_server_that_was_switched_off_has_left_and_one_that_is_named_no_more_stays(cloud):
    join(cloud, own(["gpu-1", "gpu-2"]))
    cloud.store.remember(NODES, json.dumps([{"name": "gpu-1", "gpus": 4}]))
    assert join(cloud, own([])) == ([], [])
    assert list(json.loads(cloud.store.fact(JOINED))) == ["gpu-1"]


UNKNOWN = "activation not found in Systems Manager: it was replaced or deleted after the script was written"
ENDED = "the activation has expired; set own_servers.activation_expires to another day and run `pulumi up`"
REFUSED = {
    "no cluster": (CLUSTER, {"name": "other"}, "EKS cluster lab not found"),
    "no networks": (
        CLUSTER,
        {"remoteNetworkConfig": None},
        "the cluster lab has no remote networks, so hybrid nodes cannot join it",
    ),
    "no entry": (ENTRY, {"type": "EC2_LINUX"}, "the cluster lab has no access entry of type HYBRID_LINUX"),
    "another code": (ACTIVATION, {"activationCode": "new"}, UNKNOWN),
    "a day that has passed": (ACTIVATION, {"expirationDate": "2026-01-31T00:00:00Z"}, ENDED),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_server_that_the_cloud_rejects_does_not_join(case, cloud):
    type_, inputs, problem = REFUSED[case]
    change(cloud, type_, **inputs)
    assert join(cloud, own(["gpu-1"])) == ([], [f"gpu-1: {problem}"])
    assert json.loads(cloud.store.fact(JOINED)) == {}


def test_an_activation_without_a_day_lasts_for_a_day(cloud):
    cloud.clock.moment = ACTIVATION_SECONDS
    assert join(cloud, own(["gpu-1"])).refused == []
    cloud.clock.moment = ACTIVATION_SECONDS + 1
    assert join(cloud, own(["gpu-2"])).refused == [f"gpu-2: {ENDED}"]


def test_an_activation_lets_as_many_in_as_it_says(cloud):
    change(cloud, ACTIVATION, registrationLimit=1)
    done = join(cloud, own(["gpu-1", "gpu-2"]))
    assert len(done.joined) == 1
    (line,) = done.refused
    assert line == (
        "gpu-2: the activation is used up: 1 servers have registered; raise own_servers.count and run `pulumi up`"
    )


def test_a_profile_of_another_cloud_is_not_known(cloud):
    change(cloud, PROFILE, arn="arn:other")
    assert join(cloud, own(["gpu-1"], ANYWHERE)).refused == ["gpu-1: Roles Anywhere: profileArn arn:profile not found"]
