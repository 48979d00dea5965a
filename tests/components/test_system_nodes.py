"""System nodes of a cluster: exact inputs of node group and launch template."""

from gpufleet.aws.cluster import Cluster, ClusterArgs
from tests.components.recorder import MARK, UNKNOWN, Recording, construct

TAGS = {"owner": "ml", "project": "speech", **MARK}
SUBNETS = {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}
ARN = "arn:aws:mock::000000000000:"

NODES = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


def build(preview: bool, **more: object) -> Recording[Cluster]:
    args: ClusterArgs = {"region": "us-east-1", "subnet_ids": SUBNETS, "tags": TAGS}
    args.update(more)  # type: ignore[typeddict-item]
    return construct(lambda: Cluster("eks", args), preview)


def known(value: str, preview: bool) -> str:
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def test_where_own_servers_join_its_nodes_say_that_they_are_in_the_cloud(preview):
    (own,) = build(preview, remote_networks={"nodes": ["10.80.0.0/24"]}).inputs(NODES).values()
    assert own["labels"] == {"gpufleet.dev/place": "cloud"}


def test_system_nodes(preview):
    recording = build(preview)
    assert recording.inputs(NODES) == {
        "eks-system": {
            "clusterName": "eks-stack",
            "nodeRoleArn": known(f"{ARN}eks-node-role", preview),
            "subnetIds": ["subnet-1", "subnet-2"],
            "version": known("1.34", preview),
            "amiType": "AL2023_x86_64_STANDARD",
            "capacityType": "ON_DEMAND",
            "instanceTypes": ["m7i.large"],
            "scalingConfig": {"minSize": 2, "desiredSize": 2, "maxSize": 3},
            "launchTemplate": {
                "id": known("eks-system-template-id", preview),
                "version": known("1", preview),
            },
            "updateConfig": {"maxUnavailable": 1},
            "nodeRepairConfig": {"enabled": True},
            "tags": named("eks-system"),
        }
    }
    assert recording.one(NODES).ignore_changes == ("scalingConfig.desiredSize",)


def test_launch_template_of_system_nodes(preview):
    assert build(preview, system_disk_gib=80.0).inputs(TEMPLATE) == {
        "eks-system-template": {
            "updateDefaultVersion": True,
            "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1},
            "blockDeviceMappings": [
                {
                    "deviceName": "/dev/xvda",
                    "ebs": {
                        "volumeType": "gp3",
                        "volumeSize": 80,
                        "encrypted": "true",
                        "deleteOnTermination": "true",
                    },
                }
            ],
            "tagSpecifications": [
                {"resourceType": kind, "tags": named("eks-system")}
                for kind in ("instance", "volume", "network-interface")
            ],
            "tags": named("eks-system-template"),
        }
    }


def test_system_nodes_as_wished(preview):
    inputs = (
        build(
            preview,
            node_subnet_ids={"use1-az2": "subnet-8"},
            system_types=["m7i.xlarge", "m6i.xlarge"],
            system_min=1.0,
            system_max=5.0,
            version="1.34",
        )
        .one(NODES)
        .inputs
    )
    assert inputs["subnetIds"] == ["subnet-8"]
    assert inputs["instanceTypes"] == ["m7i.xlarge", "m6i.xlarge"]
    assert inputs["scalingConfig"] == {"minSize": 1, "desiredSize": 1, "maxSize": 5}
    assert inputs["version"] == "1.34"


def test_one_number_is_enough_for_more_system_nodes(preview):
    scaling = build(preview, system_min=5).one(NODES).inputs["scalingConfig"]
    assert scaling == {"minSize": 5, "desiredSize": 5, "maxSize": 5}
