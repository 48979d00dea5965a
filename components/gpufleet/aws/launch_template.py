"""The launch template of a GPU pool: disks, addresses, fabric and capacity of each node.

EKS rejects templates that name a subnet, an instance profile or a shutdown behaviour, and an instance type in both
template and node group; so none of these is set, but for the type of a capacity block. AWS Batch ignores them.
"""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_aws import ec2

from gpufleet.aws.efa import Interface
from gpufleet.aws.launch_template_plan import DiskSpeed, LaunchTemplatePlan
from gpufleet.component import Component

TAGGED = ("instance", "volume", "network-interface")
"""What a launch creates and a bill or a clean-up must find by tag."""


@dataclass(frozen=True)
class TemplateLinks:
    """What the template takes from other resources."""

    security_groups: Sequence[pulumi.Input[str]]
    placement_group: pulumi.Input[str] | None
    user_data: pulumi.Input[str] | None
    kms_key_arn: pulumi.Input[str] | None


def launch_template(name: str, plan: LaunchTemplatePlan, links: TemplateLinks, parent: Component) -> ec2.LaunchTemplate:
    """Create the template. ``name`` is its logical name; what it launches is named after ``parent``."""
    node = parent.tags(parent.pulumi_resource_name)
    by_interface = bool(plan.interfaces)
    return ec2.LaunchTemplate(
        name,
        update_default_version=True,
        image_id=plan.image_id,
        instance_type=plan.template_type,
        key_name=plan.key_pair,
        user_data=links.user_data,
        # Interfaces and instance-level groups exclude each other.
        network_interfaces=[_interface(each, plan, links) for each in plan.interfaces] if by_interface else None,
        vpc_security_group_ids=None if by_interface else list(links.security_groups),
        placement=None
        if links.placement_group is None
        else ec2.LaunchTemplatePlacementArgs(group_name=links.placement_group),
        metadata_options=metadata_options(),
        block_device_mappings=[
            _disk(device, size, plan.disk_speed if size else DiskSpeed(), links.kms_key_arn)
            for device, size in plan.disks.items()
        ],
        capacity_reservation_specification=_reservation(plan),
        instance_market_options=ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type=plan.market)
        if plan.market
        else None,
        tag_specifications=[
            ec2.LaunchTemplateTagSpecificationArgs(resource_type=resource, tags=node) for resource in TAGGED
        ],
        tags=parent.tags(name),
        opts=parent.child(),
    )


def metadata_options() -> ec2.LaunchTemplateMetadataOptionsArgs:
    """The metadata service for the node itself only: its answer to a pod with an address of its own ends on the way.

    Whatever the cluster does with network policies, no such pod gets the node's credentials. What asks for them uses
    the node's network (CNI, pod identity agent, EFA plugin, EFS mounts, the container agent of AWS Batch), or has a pod
    identity and learns its region elsewhere: the autoscaler by an argument, EFS's controller from its node's object.

    Source: docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html;
    kubernetes-sigs/aws-efs-csi-driver#313, pkg/cloud/k8s_metadata.go
    """
    return ec2.LaunchTemplateMetadataOptionsArgs(
        http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
    )


def _interface(
    interface: Interface, plan: LaunchTemplatePlan, links: TemplateLinks
) -> ec2.LaunchTemplateNetworkInterfaceArgs:
    """One interface. The API takes these switches as strings."""
    return ec2.LaunchTemplateNetworkInterfaceArgs(
        network_card_index=interface.card,
        device_index=interface.device,
        interface_type=interface.kind,
        delete_on_termination="true",
        associate_public_ip_address="true" if plan.public_addresses else None,
        security_groups=list(links.security_groups),
    )


def _disk(
    device: str, gib: int | None, speed: DiskSpeed, kms_key_arn: pulumi.Input[str] | None
) -> ec2.LaunchTemplateBlockDeviceMappingArgs:
    """One encrypted disk; without a size it has that of the image."""
    return ec2.LaunchTemplateBlockDeviceMappingArgs(
        device_name=device,
        ebs=ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
            volume_type=speed.type,
            iops=speed.iops,
            throughput=speed.throughput,
            volume_size=gib,
            encrypted="true",
            kms_key_id=kms_key_arn,
            delete_on_termination="true",
        ),
    )


def _reservation(plan: LaunchTemplatePlan) -> ec2.LaunchTemplateCapacityReservationSpecificationArgs | None:
    """Aim at the reservation and at nothing else: a launch beyond it fails, it does not become on-demand."""
    if plan.reservation_id is None:
        return None
    return ec2.LaunchTemplateCapacityReservationSpecificationArgs(
        capacity_reservation_target=(
            ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
                capacity_reservation_id=plan.reservation_id
            )
        )
    )
