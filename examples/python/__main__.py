"""Another team's program: GPU training in a VPC of its own, with the SDK that `pulumi package add` makes."""

import pulumi
import pulumi_gpufleet_aws as gpufleet

config = pulumi.Config()
region = pulumi.Config("aws").require("region")
vpc_id = config.require("vpcId")
subnet_ids: dict[str, str] = config.require_object("subnetIds")
tags = {"owner": "speech", "project": "speech", "environment": pulumi.get_stack(), "expires-at": "2027-12-31"}

cluster = gpufleet.Cluster(
    "speech",
    region=region,
    subnet_ids=subnet_ids,
    admins={"platform": config.require("admin")},
    tags=tags,
)
files = gpufleet.SharedFiles(
    "speech-files",
    region=region,
    zones=list(subnet_ids),
    vpc_id=vpc_id,
    subnet_ids=subnet_ids,
    client_security_group_ids={"nodes": cluster.cluster_security_group_id},
    tags=tags,
)
trainers = gpufleet.GpuNodeGroup(
    "speech-trainers",
    region=region,
    types=["g6.12xlarge"],
    max=2,
    zones=["use1-az1"],
    vpc_id=vpc_id,
    subnet_ids=subnet_ids,
    # Nodes come after the add-ons without which they never join.
    cluster_name=cluster.ready,
    cluster_security_group_id=cluster.cluster_security_group_id,
    tags=tags,
)
pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("fileSystemId", files.file_system_id)
pulumi.export("nodeGroupName", trainers.node_group_name)
