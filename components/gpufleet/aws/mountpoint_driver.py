"""MountpointDriver: the driver by which pods of an EKS cluster read buckets as files, and its right to do so."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import eks

from gpufleet.aws.partition import partition
from gpufleet.aws.pod_identity import ServiceAccount, pod_role
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.volume_source import VolumeSource
from gpufleet.rules import Finding
from gpufleet.rules.aws.bucket_path import bucket_and_prefix
from gpufleet.rules.aws.mountpoint_driver import validate_mountpoint_driver

ADDON, NAMESPACE, SERVICE_ACCOUNT = "aws-mountpoint-s3-csi-driver", "kube-system", "s3-csi-driver-sa"
"""docs.aws.amazon.com/eks/latest/userguide/mountpoint-for-s3-add-on.html;
github.com/awslabs/mountpoint-s3-csi-driver v2.7.0, docs/CONFIGURATION.md (driver-level credentials, EKS Pod
Identity)."""


class MountpointDriverArgs(TypedDict):
    """The cluster, and the buckets that its pods may read."""

    cluster_name: pulumi.Input[str]
    """The EKS cluster, with the add-on eks-pod-identity-agent and nodes."""
    buckets: Sequence[str]
    """What pods may read, each as s3://bucket or s3://bucket/prefix. They may write nothing."""
    kms_key_arns: NotRequired[Sequence[pulumi.Input[str]]]
    """Your keys of KMS with which objects are encrypted (SSE-KMS). Default: none."""
    addon_version: NotRequired[str]
    """Version of the add-on, 2.0 or later. Default: EKS's own for the cluster's version."""
    region: NotRequired[str]
    """Region of the cluster and the buckets, for instance us-east-1. Default: the provider\'s; another one is
    rejected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def reader_policy(buckets: Sequence[str], region: str, keys: Sequence[str] = ()) -> str:
    """The role's policy (JSON): list and read these, and no more.

    Source: github.com/awslabs/mountpoint-s3 v1.23.0, doc/CONFIGURATION.md (IAM permissions: s3:ListBucket, for a prefix
    by the condition s3:prefix; s3:GetObject; kms:Decrypt for SSE-KMS).
    """
    statements: list[dict[str, Any]] = []
    for path in buckets:
        bucket, prefix = bucket_and_prefix(path)
        arn = f"arn:{partition(region)}:s3:::{bucket}"
        listing: dict[str, Any] = {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": arn}
        if prefix:
            listing["Condition"] = {"StringLike": {"s3:prefix": f"{prefix}*"}}
        statements += [listing, {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": f"{arn}/{prefix}*"}]
    if keys:
        statements.append({"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": list(keys)})
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


class MountpointDriver(Component):
    """Mountpoint for Amazon S3 on a cluster, by EKS's add-on, with a role that reads the given buckets.

    The driver gets the role by EKS Pod Identity, for all pods that mount a bucket. Who mounts one is a matter of the
    volumes, which only administrators make.
    """

    role_arn: pulumi.Output[str]
    """The role of the driver."""
    driver: pulumi.Output[str]
    """Name of the add-on, once it is active."""

    def __init__(
        self,
        name: str,
        args: MountpointDriverArgs = KEYWORDS,
        opts: Opts = None,
        **keywords: Unpack[MountpointDriverArgs],
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: MountpointDriverArgs) -> list[Finding]:
        return validate_mountpoint_driver(args)

    def create(self, name: str, args: MountpointDriverArgs) -> None:
        cluster = pulumi.Output.from_input(args["cluster_name"])
        self._region = args["region"]
        keys = pulumi.Output.all(*args.get("kms_key_arns", ()))
        rights = keys.apply(lambda known: reader_policy(args["buckets"], args["region"], known))
        account = ServiceAccount(cluster, NAMESPACE, SERVICE_ACCOUNT)
        role = pod_role(self, f"{name}-role", f"{name}-policy", account, rights)
        identity = eks.AddonPodIdentityAssociationArgs(role_arn=role.arn_with_rights, service_account=SERVICE_ACCOUNT)
        addon = eks.Addon(
            f"{name}-{ADDON}",
            cluster_name=cluster,
            addon_name=ADDON,
            addon_version=args.get("addon_version"),
            pod_identity_associations=[identity],
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            tags=self.tags(f"{name}-{ADDON}"),
            opts=self.child(),
        )
        self.role_arn, self.driver = role.role.arn, addon.addon_name

    def for_volume(self, bucket: str) -> VolumeSource:
        """Where the files of a `SharedVolume` are: one of the buckets, or a deeper prefix of it."""
        return {"s3": self.driver.apply(lambda _: bucket), "bucket_region": self._region}
