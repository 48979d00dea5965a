"""Add-ons of a cluster: exact inputs, identities and versions."""

import pytest

from gpufleet.aws.cluster import Cluster, ClusterArgs
from gpufleet.validation import InvalidArguments
from tests.components.recorder import MARK, UNKNOWN, Recording, construct

TAGS = {"owner": "ml", "project": "speech", **MARK}
SUBNETS = {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}
ARN = "arn:aws:mock::000000000000:"

ADDON = "aws:eks/addon:Addon"


def build(preview: bool, **more: object) -> Recording[Cluster]:
    args: ClusterArgs = {"region": "us-east-1", "subnet_ids": SUBNETS, "tags": TAGS}
    args.update(more)  # type: ignore[typeddict-item]
    return construct(lambda: Cluster("eks", args), preview)


def known(value: str, preview: bool) -> str:
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def test_addons(preview):
    def addon(name: str, account: str | None = None, **more: object) -> dict[str, object]:
        identity = {"roleArn": known(f"{ARN}eks-{name.removeprefix('aws-').removesuffix('-driver')}-role", preview)}
        return {
            "addonName": name,
            "clusterName": "eks-stack",
            "resolveConflictsOnCreate": "OVERWRITE",
            "resolveConflictsOnUpdate": "OVERWRITE",
            "tags": named(f"eks-{name}"),
            **({"podIdentityAssociations": [{"serviceAccount": account, **identity}]} if account else {}),
            **more,
        }

    settings = '{"enableNetworkPolicy": "true", "env": {"MINIMUM_IP_TARGET": "20", "WARM_IP_TARGET": "5"}}'
    assert build(preview).inputs(ADDON) == {
        "eks-aws-efs-csi-driver": addon("aws-efs-csi-driver", "efs-csi-controller-sa"),
        "eks-coredns": addon("coredns"),
        "eks-eks-pod-identity-agent": addon("eks-pod-identity-agent"),
        "eks-kube-proxy": addon("kube-proxy"),
        "eks-vpc-cni": addon("vpc-cni", "aws-node", configurationValues=settings),
    }


def test_node_monitoring_agent_has_no_role_and_waits_for_nodes(preview):
    recording = build(preview, node_monitoring=True, addon_versions={"eks-node-monitoring-agent": "v1.7.0-eksbuild.1"})
    assert recording.inputs(ADDON)["eks-eks-node-monitoring-agent"] == {
        "addonName": "eks-node-monitoring-agent",
        "addonVersion": "v1.7.0-eksbuild.1",
        "clusterName": "eks-stack",
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
        "tags": named("eks-eks-node-monitoring-agent"),
    }
    assert recording.names("aws:iam/role:Role") == build(preview).names("aws:iam/role:Role")


def test_addon_versions(preview):
    recording = build(preview, addon_versions={"vpc-cni": "v1.20.4-eksbuild.1"})
    versions = {name: inputs.get("addonVersion") for name, inputs in recording.inputs(ADDON).items()}
    assert versions == {
        "eks-aws-efs-csi-driver": None,
        "eks-coredns": None,
        "eks-eks-pod-identity-agent": None,
        "eks-kube-proxy": None,
        "eks-vpc-cni": "v1.20.4-eksbuild.1",
    }


def test_cluster_whose_pods_mount_no_efs_has_neither_driver_nor_role(preview):
    recording = build(preview, efs_driver=False)
    assert recording.names(ADDON) == ["eks-coredns", "eks-eks-pod-identity-agent", "eks-kube-proxy", "eks-vpc-cni"]
    assert recording.names("aws:iam/role:Role") == ["eks-cluster-role", "eks-node-role", "eks-vpc-cni-role"]
    with pytest.raises(InvalidArguments) as caught:
        build(preview, efs_driver=False, addon_versions={"aws-efs-csi-driver": "v2"})
    assert "addon_versions=aws-efs-csi-driver: the cluster has no such add-on" in str(caught.value)


def test_cluster_whose_pods_mount_lustre_has_the_driver_without_a_role(preview):
    recording = build(preview, efs_driver=False, fsx_driver=True)
    assert recording.inputs(ADDON)["eks-aws-fsx-csi-driver"].get("podIdentityAssociations") is None
    assert recording.names("aws:iam/role:Role") == ["eks-cluster-role", "eks-node-role", "eks-vpc-cni-role"]
