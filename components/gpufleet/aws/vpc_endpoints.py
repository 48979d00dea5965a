"""Ways from a VPC to AWS's own services that need no internet."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

from collections.abc import Sequence

import pulumi
from pulumi_aws import ec2, vpc

from gpufleet.component import Component

PRIVATE_CLUSTER_SERVICES = (
    "autoscaling",
    "ec2",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "elasticloadbalancing",
    "logs",
    "sts",
)
"""What nodes, CNI, pod identity agent, EFS driver and autoscaler of an EKS cluster call, for a VPC without NAT.

Source: docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
"""


def s3_endpoint(
    name: str,
    parent: Component,
    region: str,
    network: ec2.Vpc,
    tables: Sequence[ec2.RouteTable],
) -> ec2.VpcEndpoint:
    """S3 by route: free, unlike the same bytes through NAT; ECR keeps its image layers there."""
    child = f"{name}-s3"
    return ec2.VpcEndpoint(
        child,
        vpc_id=network.id,
        service_name=f"com.amazonaws.{region}.s3",
        vpc_endpoint_type="Gateway",
        route_table_ids=[table.id for table in tables],
        tags=parent.tags(child),
        opts=parent.child(),
    )


def interface_endpoints(
    name: str,
    parent: Component,
    region: str,
    network: ec2.Vpc,
    subnets: Sequence[ec2.Subnet],
    services: Sequence[str],
) -> list[pulumi.Resource]:
    """An endpoint per service with an address in each subnet, open to the VPC on 443; the rule that opens it as well.

    ``services`` as AWS names them after the region, for instance ``ecr.api``. China's differ and are not supported.
    """
    if not services:
        return []
    group = ec2.SecurityGroup(
        f"{name}-endpoints",
        description="AWS services inside the VPC",
        vpc_id=network.id,
        tags=parent.tags(f"{name}-endpoints"),
        opts=parent.child(),
    )
    https = vpc.SecurityGroupIngressRule(
        f"{name}-endpoints-https",
        security_group_id=group.id,
        cidr_ipv4=network.cidr_block,
        ip_protocol="tcp",
        from_port=443,
        to_port=443,
        description="HTTPS from the VPC",
        tags=parent.tags(f"{name}-endpoints-https"),
        opts=parent.child(),
    )
    children = {f"{name}-endpoint-{service.replace('.', '-')}": service for service in services}
    endpoints = [
        ec2.VpcEndpoint(
            child,
            vpc_id=network.id,
            service_name=f"com.amazonaws.{region}.{service}",
            vpc_endpoint_type="Interface",
            private_dns_enabled=True,
            subnet_ids=[subnet.id for subnet in subnets],
            security_group_ids=[group.id],
            tags=parent.tags(child),
            opts=parent.child(),
        )
        for child, service in children.items()
    ]
    return [https, *endpoints]
