"""Another team's program: GPU training in a VPC of its own, with gpufleet as a library."""

import pulumi

from gpufleet.aws import Cluster, GpuNodeGroup, SharedFiles
from gpufleet.validation import gathering

config = pulumi.Config()
region = pulumi.Config("aws").require("region")
vpc_id = config.require("vpcId")
subnet_ids: dict[str, pulumi.Input[str]] = config.require_object("subnetIds")
tags = {"owner": "speech", "project": "speech", "environment": pulumi.get_stack(), "expires-at": "2027-12-31"}

# All faults of all components come at once, and with one nothing is registered.
with gathering():
    cluster = Cluster(
        "speech", region=region, subnet_ids=subnet_ids, admins={"platform": config.require("admin")}, tags=tags
    )
    files = SharedFiles(
        "speech-files",
        region=region,
        zones=list(subnet_ids),
        vpc_id=vpc_id,
        subnet_ids=subnet_ids,
        **cluster.for_files(),
        tags=tags,
    )
    trainers = GpuNodeGroup(
        "speech-trainers",
        region=region,
        types=["g6.12xlarge"],
        max=2,
        zones=["use1-az1"],
        vpc_id=vpc_id,
        subnet_ids=subnet_ids,
        **cluster.for_nodes(),
        tags=tags,
    )

pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("fileSystemId", files.file_system_id)
pulumi.export("nodeGroupName", trainers.node_group_name)
