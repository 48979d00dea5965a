"""What components of AWS hand over to each other, also when one of them is a placeholder."""

from typing import get_args

import pulumi
import pytest

from gpufleet.aws import batch_environment, cluster, data_sync, hybrid_nodes, network, shared_files, site_link
from gpufleet.aws.cluster import Cluster
from gpufleet.aws.gpu_node_group import GpuNodeGroup
from gpufleet.aws.network import Network
from gpufleet.aws.shared_files import SharedFiles
from gpufleet.pools import ec2_pool, eks_pool, schedule
from gpufleet.rules import capacity, efa, placement
from gpufleet.rules.aws import batch_strategy, pool_arguments
from gpufleet.rules.aws import cluster as cluster_rules
from gpufleet.rules.aws import data_sync as data_sync_rules
from gpufleet.rules.aws import hybrid_credentials as hybrid_rules
from gpufleet.rules.aws import network as network_rules
from gpufleet.rules.aws import shared_files as files_rules
from gpufleet.rules.aws import site_link as link_rules
from gpufleet.validation import gathering
from tests.components.recorder import construct

REGION = {"region": "us-east-1"}
ZONES = ["use1-az1", "use1-az2", "use1-az4"]


def everything(**changes: object) -> None:
    """A network with all that stands on it; ``changes`` are the network's arguments."""
    with gathering():
        net = Network("net", **{**REGION, "zones": ZONES, **changes})
        eks = Cluster("eks", **REGION, zones=ZONES[:2], **net.for_cluster())
        GpuNodeGroup(
            "pool", types=["g6.xlarge"], max=1, zones=[ZONES[2]], **REGION, **eks.for_nodes(), **net.for_nodes()
        )
        clients = {"nodes": eks.cluster_security_group_id}
        SharedFiles("files", zones=ZONES[1:], client_security_group_ids=clients, **REGION, **net.for_files())


def test_links_lead_to_what_they_say(preview: bool) -> None:
    recording = construct(everything, preview)
    control = recording.one("aws:eks/cluster:Cluster")
    assert control.property_dependencies["vpcConfig"] == {f"net-private-{zone}" for zone in ZONES[:2]}
    nodes = recording.one("aws:eks/nodeGroup:NodeGroup", "pool-nodes").property_dependencies
    # Not before the cluster's add-ons, and not before the way out.
    assert nodes["clusterName"] == {"eks-cluster", "eks-vpc-cni", "eks-kube-proxy", "eks-eks-pod-identity-agent"}
    assert nodes["nodeRoleArn"] >= {"eks-node-role"}
    assert nodes["subnetIds"] >= {f"net-private-{ZONES[2]}", f"net-private-{ZONES[2]}-default"}
    template = recording.one("aws:ec2/launchTemplate:LaunchTemplate", "pool-template").property_dependencies
    assert template["vpcSecurityGroupIds"] == {"eks-cluster"}
    for zone in ZONES[1:]:
        target = recording.one("aws:efs/mountTarget:MountTarget", f"files-mount-{zone}").property_dependencies
        assert target["subnetId"] == {f"net-private-{zone}"}


def test_system_nodes_lie_in_the_zones_of_the_control_plane() -> None:
    recording = construct(everything, preview=True)
    nodes = recording.one("aws:eks/nodeGroup:NodeGroup", "eks-system").property_dependencies["subnetIds"]
    assert {each for each in nodes if each.startswith("net-private-") and each.endswith("-default")} == {
        f"net-private-{zone}-default" for zone in ZONES[:2]
    }


def test_what_stands_on_a_wrong_network_is_not_blamed() -> None:
    with pytest.raises(pulumi.RunError) as caught:
        construct(lambda: everything(nat="sometimes"), preview=True)
    assert str(caught.value).splitlines() == [
        "net: nat=sometimes: is not an allowed value; use none, single or per-zone [any-argument-word]"
    ]


@pytest.mark.parametrize(
    ("typed", "judged"),
    [
        (ec2_pool.Placement, placement.PLACEMENTS),
        (eks_pool.Capacity, capacity.CAPACITIES),
        (ec2_pool.Fabric, efa.NETWORKS),
        (eks_pool.Effect, pool_arguments.TAINT_EFFECTS),
        (schedule.Day, schedule.DAYS),
        (network.Nat, network_rules.NAT),
        (cluster.LogType, cluster_rules.LOG_TYPES),
        (shared_files.Throughput, files_rules.THROUGHPUT),
        (site_link.Kind, link_rules.KINDS),
        (hybrid_nodes.Credentials, hybrid_rules.KINDS),
        (data_sync.Target, data_sync_rules.TARGETS),
        (batch_environment.Capacity, [word for word in capacity.CAPACITIES if word != "capacity-block"]),
        (batch_environment.Strategy, {*batch_strategy.ON_DEMAND, *batch_strategy.SPOT}),
    ],
)
def test_type_checkers_know_the_words_that_rules_take(typed: object, judged: object) -> None:
    assert sorted(get_args(typed)) == sorted(judged)
