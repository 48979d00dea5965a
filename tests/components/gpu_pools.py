"""A pool of GpuNodeGroup, called trainers, and what is expected of its children."""

from collections.abc import Mapping
from typing import cast

from gpufleet.aws.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from gpufleet.aws.user_data import amazon_linux
from tests.components.recorder import MARK, UNKNOWN, Recording, construct

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
NODES = "aws:eks/nodeGroup:NodeGroup"
PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"
ASG_TAG = "aws:autoscaling/tag:Tag"
ROLE = "arn:aws:iam::000000000000:role/nodes"
TAGS = {"owner": "ml", "project": "llm", **MARK}
BASE = {
    "region": "us-east-1",
    "types": ["p4d.24xlarge"],
    "max": 4,
    "zones": ["use1-az1"],
    "cluster_name": "fleet",
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az1": "subnet-1", "use1-az2": "subnet-2", "use1-az6": "subnet-6"},
    "cluster_security_group_id": "sg-cluster",
    "node_role_arn": ROLE,
    "tags": TAGS,
}
COMPUTED = {
    NODES: {"nodeGroupName": "{name}-1234567", "resources": [{"autoscalingGroups": [{"name": "{name}-asg"}]}]},
}


def build(preview: bool, /, **changes: object) -> Recording[GpuNodeGroup]:
    """A pool called trainers: the base with ``changes``; None takes an argument away."""
    args = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    return construct(lambda: GpuNodeGroup("trainers", cast(GpuNodeGroupArgs, args)), preview, COMPUTED)


def template(recording: Recording[GpuNodeGroup]) -> dict[str, object]:
    return recording.one(TEMPLATE, "trainers-template").inputs


def nodes(recording: Recording[GpuNodeGroup]) -> dict[str, object]:
    return recording.one(NODES, "trainers-nodes").inputs


def known(preview: bool, value: str) -> str:
    """``value`` where the cloud has made it, unknown in preview."""
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def expected_template(**changes: object) -> dict[str, object]:
    """The template of the plain on-demand pool with ``changes``; None takes a property away."""
    inputs: dict[str, object] = {
        "updateDefaultVersion": True,
        "userData": amazon_linux(efa=False),
        "vpcSecurityGroupIds": ["sg-cluster"],
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1},
        "blockDeviceMappings": [
            {
                "deviceName": "/dev/xvda",
                "ebs": {"volumeType": "gp3", "volumeSize": 100, "encrypted": "true", "deleteOnTermination": "true"},
            }
        ],
        "tagSpecifications": [
            {"resourceType": "instance", "tags": named("trainers")},
            {"resourceType": "volume", "tags": named("trainers")},
            {"resourceType": "network-interface", "tags": named("trainers")},
        ],
        "tags": named("trainers-template"),
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


def expected_nodes(preview: bool, **changes: object) -> dict[str, object]:
    """The node group of the plain on-demand pool with ``changes``; None takes a property away."""
    inputs: dict[str, object] = {
        "clusterName": "fleet",
        "nodeRoleArn": ROLE,
        "subnetIds": ["subnet-1"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "capacityType": "ON_DEMAND",
        "instanceTypes": ["p4d.24xlarge"],
        "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 4},
        "launchTemplate": {"id": known(preview, "trainers-template-id"), "version": known(preview, "1")},
        "labels": labels(),
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
        "updateConfig": {"maxUnavailablePercentage": 33, "updateStrategy": "MINIMAL"},
        "nodeRepairConfig": {"enabled": True},
        "tags": named("trainers-nodes"),
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


def told_of_efa(interfaces: int) -> dict[str, str]:
    """The tags by which the autoscaler knows an empty pool with EFA."""
    resources = {"vpc.amazonaws.com/efa": f"{interfaces}", "hugepages-2Mi": "10256Mi"}
    return {f"k8s.io/cluster-autoscaler/node-template/resources/{name}": each for name, each in resources.items()}


def labels(**changes: str) -> dict[str, str]:
    words = {"capacity": "on-demand", "gpu": "A100", "network": "plain", "place": "cloud", "placement": "none"}
    facts = {**words, "pool": "trainers", "zone-id": "use1-az1", **changes}
    ours = {f"gpufleet.dev/{key}": value for key, value in facts.items()}
    accelerator = f"nvidia-{facts['gpu'].lower()}"
    return {**ours, "nvidia.com/gpu.present": "true", "k8s.amazonaws.com/accelerator": accelerator}


def efa_interfaces(cards: int, group: str) -> list[Mapping[str, object]]:
    """Card 0 with an address, the others fabric only."""
    return [
        {
            "networkCardIndex": card,
            "deviceIndex": 0 if card == 0 else 1,
            "interfaceType": "efa" if card == 0 else "efa-only",
            "deleteOnTermination": "true",
            "securityGroups": ["sg-cluster", group],
        }
        for card in range(cards)
    ]
