"""A program of any size: `growth:pools` GpuNodeGroup components, or `growth:templates` plain launch templates."""

import pulumi
from pulumi_aws import ec2

from gpufleet.aws.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs

TAGS = {"owner": "platform-team", "project": "bench", "environment": "bench", "expires-at": "2027-12-31"}
POOL: GpuNodeGroupArgs = {
    "types": ["g5.8xlarge"],
    "max": 2,
    "zones": ["use1-az1"],
    "region": "us-east-1",
    "cluster_name": "shared",
    "vpc_id": "vpc-0123456789abcdef0",
    "subnet_ids": {"use1-az1": "subnet-0123456789abcdef0"},
    "cluster_security_group_id": "sg-0123456789abcdef0",
    "node_role_arn": "arn:aws:iam::000000000000:role/nodes",
    "tags": TAGS,
}

config = pulumi.Config()
for number in range(config.get_int("pools") or 0):
    GpuNodeGroup(f"pool-{number}", **POOL)
for number in range(config.get_int("templates") or 0):
    ec2.LaunchTemplate(
        f"template-{number}",
        block_device_mappings=[
            {"device_name": "/dev/xvda", "ebs": {"volume_size": 100, "volume_type": "gp3", "encrypted": "true"}}
        ],
        metadata_options={"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 2},
        tag_specifications=[{"resource_type": kind, "tags": TAGS} for kind in ("instance", "volume")],
        update_default_version=True,
        tags={**TAGS, "Name": f"template-{number}"},
    )
