"""A program of another team with four mistakes. A type checker has to name the argument behind each.

For type checkers alone: see tests/tools/test_typing.py and tools/pyright.
"""

import pulumi

from gpufleet.aws import Cluster, GpuNodeGroup, SharedFiles
from gpufleet.aws.links import NodeNetwork

config = pulumi.Config()
region, zones = "us-east-1", ["use1-az1"]
subnets = {"use1-az1": config.require("first"), "use1-az2": config.require("second")}
network: NodeNetwork = {"vpc_id": config.require("vpc"), "subnet_ids": subnets}

cluster = Cluster("speech", region=region, subnet_ids=subnets)
files = SharedFiles(
    "speech-files",
    region=region,
    zones=list(subnets),
    vpc_id=network["vpc_id"],
    subnet_ids=list(subnets.values()),  # wrong: subnet_ids
    **cluster.for_files(),
)
trainers = GpuNodeGroup(
    "speech-trainers",
    region=region,
    types=["g6.12xlarge"],
    max=2,
    zones=zones,
    capacity="spott",  # wrong: capacity
    **network,
    **cluster.for_nodes(),
)
small, nodes = ["g6.xlarge"], cluster.for_nodes()
GpuNodeGroup("a", region=region, types=small, max=1, zones=zones, disk_gb=9, **network, **nodes)  # wrong: disk_gb
GpuNodeGroup("b", region=region, types=small, max=1, **network, **nodes)  # wrong: zones

pulumi.export("fileSystemId", files.file_system_id)
pulumi.export("nodeGroupName", trainers.node_group_name)
