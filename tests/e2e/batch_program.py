"""A program of plain pulumi_aws that trains on AWS Batch: one environment in one queue, a definition and a bucket.

Config of the project, all optional: types, max, disk (of the launch template), group (of two placement groups), image,
strategy, name (a fixed one for the environment), pause (seconds after the queue's update, in a hook), erase.
"""

from pathlib import Path
from typing import Any

from tests.e2e.rehearsed_project import Project
from tests.e2e.tiny_program import tiny

BATCH = """
import json
import os
import time

import pulumi
import pulumi_aws as aws

config = pulumi.Config()
network = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
subnet = aws.ec2.Subnet("subnet", vpc_id=network.id, cidr_block="10.0.0.0/20", availability_zone_id="use1-az1")
group = aws.ec2.SecurityGroup("group", vpc_id=network.id)
trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
role = aws.iam.Role("role", assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [trust]}))
policy = "arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role"
attached = aws.iam.RolePolicyAttachment("policy", role=role.name, policy_arn=policy)
profile = aws.iam.InstanceProfile("profile", role=role.name)
groups = {name: aws.ec2.PlacementGroup(name, strategy="cluster") for name in ("near", "far")}
disk = {"volume_size": config.get_int("disk") or 100, "volume_type": "gp3"}
template = aws.ec2.LaunchTemplate("template", block_device_mappings=[{"device_name": "/dev/xvda", "ebs": disk}])
image = config.get("image")
environment = aws.batch.ComputeEnvironment(
    "trainers",
    name=config.get("name"),
    type="MANAGED",
    compute_resources={
        "type": "EC2",
        "allocation_strategy": config.get("strategy") or "BEST_FIT_PROGRESSIVE",
        "min_vcpus": 0,
        "max_vcpus": config.get_int("max") or 64,
        "instance_types": (config.get("types") or "g5.8xlarge").split(","),
        "instance_role": profile.arn,
        "placement_group": groups[config.get("group") or "near"].name,
        "ec2_configurations": [
            {"image_type": "ECS_AL2023_NVIDIA", **({"image_id_override": image} if image else {})}
        ],
        "launch_template": {"launch_template_id": template.id, "version": template.latest_version.apply(str)},
        "subnets": [subnet.id],
        "security_group_ids": [group.id],
    },
    opts=pulumi.ResourceOptions(depends_on=[attached]),
)


def wait(_):
    time.sleep(config.get_float("pause") * float(os.environ["GPUFLEET_PAUSE_SCALE"]))


hooks = None
if config.get_float("pause"):
    hooks = pulumi.ResourceHookBinding(after_update=[pulumi.ResourceHook("relation-gone", wait)])
queue = aws.batch.JobQueue(
    "queue",
    state="ENABLED",
    priority=1,
    compute_environment_orders=[{"order": 1, "compute_environment": environment.arn}],
    opts=pulumi.ResourceOptions(hooks=hooks),
)
resources = [{"type": kind, "value": value} for kind, value in (("GPU", "1"), ("VCPU", "8"), ("MEMORY", "65536"))]
definition = aws.batch.JobDefinition(
    "train",
    type="container",
    container_properties=json.dumps(
        {"image": config.get("container") or "trainer:1", "resourceRequirements": resources}
    ),
)
results = aws.s3.Bucket("results", force_destroy=config.get_bool("erase") or False)
pulumi.export("definition", definition.arn)
"""


def batch_project(folder: Path, **config: Any) -> Project:
    """The program in a new folder."""
    return tiny(folder, BATCH, **config)
