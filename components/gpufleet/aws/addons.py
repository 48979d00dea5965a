"""The EKS add-ons of a cluster: what nodes need to join, and what needs nodes to run on."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pulumi
from pulumi_aws import eks

from gpufleet.aws.iam_roles import RoleWithPolicies, role_with_policies, trust_pods
from gpufleet.component import Component

_POD_ADDRESSES = 20
CNI_SETTINGS = json.dumps(
    {
        "enableNetworkPolicy": "true",
        "env": {"MINIMUM_IP_TARGET": f"{_POD_ADDRESSES}", "WARM_IP_TARGET": "5"},
    },
    sort_keys=True,
)
"""Network policies, which the CNI ignores by default, and the addresses that it holds on each node.

Network policies need version 1.14 of the CNI and a kernel 5.10, which AL2023 and Bottlerocket have. AWS promises them
for pods of Deployments only, so that the launch templates' hop limit guards node identities. In the mode that is the
default, standard, a pod that has just started is open until its policies arrive; strict would keep DNS from it too.

By default the CNI holds a whole spare interface: about 100 addresses on a p5.48xlarge, which empties a /19 at 80 nodes.
A GPU node runs some ten pods with their own addresses.

Sources: docs.aws.amazon.com/eks/latest/userguide/cni-network-policy.html and network-policies-troubleshooting.html;
aws/aws-network-policy-agent#327; github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md
"""

ADDRESSES_PER_NODE = _POD_ADDRESSES + 1
"""Addresses that a node takes of its subnet at the least: its own and the CNI's."""

EFS_DRIVER, EBS_DRIVER, FSX_DRIVER = "aws-efs-csi-driver", "aws-ebs-csi-driver", "aws-fsx-csi-driver"
_DRIVERS = {
    EFS_DRIVER: ("efs-csi", "efs-csi-controller-sa", "service-role/AmazonEFSCSIDriverPolicy"),
    EBS_DRIVER: ("ebs-csi", "ebs-csi-controller-sa", "AmazonEBSCSIDriverPolicyV2"),
}
"""Short name, service account of the controller, and AWS's policy of each storage driver. That of FSx has none: its
volumes name file systems that exist, for which it calls no API of AWS.

V2 reaches only volumes that the driver itself has made, which is all that a storage class needs. Source:
docs.aws.amazon.com/eks/latest/userguide/add-ons-aws-ebs-csi-driver.html; kubernetes-sigs/aws-ebs-csi-driver#2918;
docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicyV2.html
"""
NODE_ADDONS = ("eks-pod-identity-agent", "kube-proxy", "vpc-cni")


NODE_MONITORING = "eks-node-monitoring-agent"
"""The add-on by whose conditions node repair learns of broken GPUs. It needs no role: its rights are in the cluster.

On each GPU node it starts a DCGM host engine, besides the one of DCGM's exporter. Hybrid nodes do not get it. Source:
github.com/aws/eks-node-monitoring-agent, charts/eks-node-monitoring-agent (values.yaml, clusterrole.yaml,
dcgm-daemonset.yaml).
"""


def storage_drivers(*, efs: bool, ebs: bool, fsx: bool = False) -> tuple[str, ...]:
    """The add-ons by which pods mount EFS and FSx for Lustre, and claim volumes of EBS."""
    wanted = {EFS_DRIVER: efs, EBS_DRIVER: ebs, FSX_DRIVER: fsx}
    return tuple(driver for driver, needed in wanted.items() if needed)


def addons(drivers: Sequence[str], *, monitoring: bool = False) -> tuple[str, ...]:
    """Names of a cluster's add-ons, in order. drivers: those of storage."""
    return tuple(sorted((*NODE_ADDONS, "coredns", *drivers, *((NODE_MONITORING,) if monitoring else ()))))


def node_addons(
    name: str,
    parent: Component,
    cluster: eks.Cluster,
    region: str,
    versions: Mapping[str, str],
) -> list[eks.Addon]:
    """The DaemonSets without which no node becomes Ready. They are complete on a cluster that has no nodes yet.

    The CNI takes its rights from a pod identity and not from the node role, so that pods cannot borrow them from the
    node. That works on a node that has no network yet because CNI and agent both use the host's; but a CNI with a pod
    identity needs the agent on every node (aws/amazon-vpc-cni-k8s#3840), so nodes wait for both.
    """
    cni = _identity(f"{name}-vpc-cni", parent, cluster, region, "aws-node", "AmazonEKS_CNI_Policy")
    return [
        _addon(f"{name}-eks-pod-identity-agent", parent, cluster, "eks-pod-identity-agent", versions),
        _addon(f"{name}-kube-proxy", parent, cluster, "kube-proxy", versions),
        _addon(
            f"{name}-vpc-cni",
            parent,
            cluster,
            "vpc-cni",
            versions,
            configuration=CNI_SETTINGS,
            identity=cni,
        ),
    ]


def pod_addons(
    name: str,
    parent: Component,
    cluster: eks.Cluster,
    region: str,
    versions: Mapping[str, str],
    nodes: eks.NodeGroup,
    drivers: Sequence[str],
    *,
    monitoring: bool = False,
) -> list[eks.Addon]:
    """What runs once there are nodes. EKS calls a Deployment DEGRADED, and fails it after 20 minutes, while there is no
    node to run on (pulumi/pulumi-eks#1525). drivers: those of storage."""
    plain = ["coredns", *([NODE_MONITORING] if monitoring else [])]
    made = [_addon(f"{name}-{each}", parent, cluster, each, versions, needed=[nodes]) for each in plain]
    for driver in drivers:
        identity = None
        if driver in _DRIVERS:
            short, account, policy = _DRIVERS[driver]
            identity = _identity(f"{name}-{short}", parent, cluster, region, account, policy)
        made.append(_addon(f"{name}-{driver}", parent, cluster, driver, versions, identity=identity, needed=[nodes]))
    return made


def _identity(
    name: str, parent: Component, cluster: eks.Cluster, region: str, account: str, policy: str
) -> tuple[str, RoleWithPolicies]:
    """The service account of an add-on, and a role with one of AWS's own policies for it alone."""
    trusted = cluster.name.apply(lambda known: trust_pods(known, "kube-system", account))
    return account, role_with_policies(f"{name}-role", parent, trusted, region, [policy])


def _addon(
    child: str,
    parent: Component,
    cluster: eks.Cluster,
    addon: str,
    versions: Mapping[str, str],
    *,
    configuration: str | None = None,
    identity: tuple[str, RoleWithPolicies] | None = None,
    needed: Sequence[pulumi.Resource] = (),
) -> eks.Addon:
    """One add-on; ``identity`` is a Kubernetes service account and the role that its pods get."""
    identities = None
    if identity is not None:
        account, role = identity
        # The role's ARN waits for its policies: the CNI has to keep its rights until the last node is gone, or the
        # nodes' interfaces stay behind and hold subnets and security groups (pulumi/pulumi-eks#1226).
        identities = [eks.AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=account)]
    return eks.Addon(
        child,
        cluster_name=cluster.name,
        addon_name=addon,
        addon_version=versions.get(addon),
        configuration_values=configuration,
        pod_identity_associations=identities,
        # What the program says is what runs, also after somebody edited the objects in the cluster.
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        tags=parent.tags(child),
        opts=parent.child(depends_on=list(needed)),
    )
