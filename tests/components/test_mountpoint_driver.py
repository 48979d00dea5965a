"""The driver of Mountpoint for Amazon S3: exact policy, one service account, and the volume of a bucket."""

import json

from gpufleet.aws.mountpoint_driver import MountpointDriver, reader_policy
from gpufleet.kubernetes.shared_volume import SharedVolume, plan_claim, plan_volume
from tests.components.recorder import MARK, UNKNOWN, construct, refusal

ADDON, VOLUME = "aws:eks/addon:Addon", "kubernetes:core/v1:PersistentVolume"
ARGS = {"cluster_name": "train", "region": "us-east-1", "buckets": ["s3://images/train"], "tags": {"owner": "ml"}}


def build(preview, **changes):
    return construct(lambda: MountpointDriver("reader", {**ARGS, **changes}), preview)


def test_addon_and_its_role(preview):
    recording = build(preview)
    role = recording.one("aws:iam/role:Role", "reader-role").inputs
    [trust] = json.loads(role["assumeRolePolicy"])["Statement"]
    assert trust["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert trust["Condition"]["StringEquals"] == {
        "aws:RequestTag/eks-cluster-name": "train",
        "aws:RequestTag/kubernetes-namespace": "kube-system",
        "aws:RequestTag/kubernetes-service-account": "s3-csi-driver-sa",
    }
    assert recording.one("aws:iam/rolePolicy:RolePolicy").inputs == {
        "role": UNKNOWN if preview else "reader-role",
        "policy": reader_policy(["s3://images/train"], "us-east-1"),
    }
    addon = recording.one(ADDON)
    arn = UNKNOWN if preview else "arn:aws:mock::000000000000:reader-role"
    assert addon.inputs == {
        "clusterName": "train",
        "addonName": "aws-mountpoint-s3-csi-driver",
        "podIdentityAssociations": [{"roleArn": arn, "serviceAccount": "s3-csi-driver-sa"}],
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
        "tags": {"owner": "ml", **MARK, "Name": "reader-aws-mountpoint-s3-csi-driver"},
    }
    assert addon.property_dependencies["podIdentityAssociations"] == {"reader-role", "reader-policy"}


def test_it_reads_the_prefix_and_nothing_else():
    statements = json.loads(reader_policy(["s3://images/train", "s3://speech"], "cn-north-1", ["key"]))["Statement"]
    assert statements == [
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": "arn:aws-cn:s3:::images",
            "Condition": {"StringLike": {"s3:prefix": "train/*"}},
        },
        {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws-cn:s3:::images/train/*"},
        {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": "arn:aws-cn:s3:::speech"},
        {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws-cn:s3:::speech/*"},
        {"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": ["key"]},
    ]


def test_its_volume_comes_after_it(preview):
    def build() -> None:
        driver = MountpointDriver("reader", ARGS)
        SharedVolume(
            "images", {"namespace": "vision", "claim": "images", "source": driver.for_volume(ARGS["buckets"][0])}
        )

    volume = construct(build, preview).one(VOLUME)
    assert "reader-aws-mountpoint-s3-csi-driver" in volume.property_dependencies["spec"]
    options = volume.inputs["spec"]["mountOptions"]
    assert options == ["read-only", "allow-other", "region=us-east-1", "prefix=train/"]


def test_volume_of_a_bucket_is_read_only():
    """By ReadOnlyMany the driver adds --read-only, too: awslabs/mountpoint-s3-csi-driver v2.7.0, node.go."""
    args = {
        "namespace": "vision",
        "claim": "images",
        "source": {"s3": "s3://images"},
        "mount_options": ["max-threads=32"],
    }
    spec = plan_volume(args)["spec"]
    assert spec["accessModes"] == plan_claim(args)["spec"]["accessModes"] == ["ReadOnlyMany"]
    assert spec["mountOptions"] == ["read-only", "allow-other", "max-threads=32"]
    assert spec["csi"] == {
        "driver": "s3.csi.aws.com",
        "volumeHandle": "vision-images",
        "volumeAttributes": {"bucketName": "images"},
    }


def test_refuses(preview):
    args = ARGS | {"region": "us-east1", "buckets": ["images"], "addon_version": "v1.15.0-eksbuild.1"}
    lines = refusal(lambda: MountpointDriver("reader", args), preview)
    rules = ["[aws-mountpoint-bucket]", "[aws-mountpoint-version]", "[aws-region-known]"]
    assert [line.rpartition(" ")[2] for line in lines] == rules


def test_refuses_to_delete_by_a_volume(preview):
    args = {"namespace": "vision", "source": {"s3": "s3://images"}, "mount_options": ["allow-delete"]}
    assert refusal(lambda: SharedVolume("images", args), preview) == [
        "images: mount_options=allow-delete: changes objects of a bucket that is mounted to be read; leave it out, and "
        "write to other shared files [any-volume-bucket-read]"
    ]
