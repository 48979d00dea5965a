"""The small CPU node group that runs a cluster's own pods (DNS, drivers, operators), so that no GPU node has to."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import ec2, eks

from gpufleet.aws.launch_template import metadata_options
from gpufleet.component import Component

NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
"""All that a node itself may do: join, hand out pod identities, pull images.

Source: docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
"""


@dataclass(frozen=True)
class SystemNodes:
    """Types of equal size, number of nodes, and the root volume in GiB."""

    types: Sequence[str] = ("m7i.large",)
    min: int = 2
    desired: int = 2
    max: int = 3
    disk_gib: int = 50


def system_node_group(
    name: str,
    parent: Component,
    cluster: eks.Cluster,
    nodes: SystemNodes,
    version: pulumi.Input[str],
    role_arn: pulumi.Input[str],
    subnet_ids: Sequence[pulumi.Input[str]],
    needed: Sequence[pulumi.Resource],
    labels: Mapping[str, str],
) -> eks.NodeGroup:
    """The node group ``<name>-system``, made after ``needed``: the add-ons without which its nodes never join.

    ``version``: the cluster's, so that an upgrade of the control plane takes the nodes along, after it. ``labels``: of
    the nodes; EKS changes them in place.
    """
    child = f"{name}-system"
    template = _launch_template(f"{child}-template", parent, nodes.disk_gib, child)
    return eks.NodeGroup(
        child,
        cluster_name=cluster.name,
        node_role_arn=role_arn,
        subnet_ids=list(subnet_ids),
        version=version,
        ami_type="AL2023_x86_64_STANDARD",
        capacity_type="ON_DEMAND",
        # Here and not in the template: EKS rejects a type in both (terraform-aws-modules/terraform-aws-eks#1386).
        instance_types=list(nodes.types),
        scaling_config=eks.NodeGroupScalingConfigArgs(
            min_size=nodes.min, desired_size=nodes.desired, max_size=nodes.max
        ),
        launch_template=eks.NodeGroupLaunchTemplateArgs(
            id=template.id, version=template.latest_version.apply(lambda version: str(int(version)))
        ),
        labels=dict(labels) or None,
        update_config=eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
        node_repair_config=eks.NodeGroupNodeRepairConfigArgs(enabled=True),
        tags=parent.tags(child),
        opts=parent.child(
            # Nodes that find no CNI never become Ready, and the group fails after 20 minutes. On destroy the CNI has
            # to outlive the nodes, whose interfaces stay behind otherwise (pulumi/pulumi-eks#1226).
            depends_on=list(needed),
            # An autoscaler moves it.
            ignore_changes=["scalingConfig.desiredSize"],
        ),
    )


def _launch_template(child: str, parent: Component, disk_gib: int, node_name: str) -> ec2.LaunchTemplate:
    """IMDSv2 only, an encrypted root volume, and tags on what EC2 makes from it."""
    return ec2.LaunchTemplate(
        child,
        update_default_version=True,
        metadata_options=metadata_options(),
        block_device_mappings=[
            ec2.LaunchTemplateBlockDeviceMappingArgs(
                device_name="/dev/xvda",
                ebs=ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                    volume_type="gp3", volume_size=disk_gib, encrypted="true", delete_on_termination="true"
                ),
            )
        ],
        tag_specifications=[
            ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=parent.tags(node_name))
            for kind in ("instance", "volume", "network-interface")
        ],
        tags=parent.tags(child),
        opts=parent.child(),
    )
