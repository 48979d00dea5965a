"""SharedFiles: exact inputs of every child, what is kept on destroy, and who may mount."""

import json
from typing import cast

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.aws.shared_files import SharedFiles, SharedFilesArgs, creation_token, tls_policy
from tests.components.recorder import MARK, UNKNOWN, Recording, construct, refusal

FILES = "aws:efs/fileSystem:FileSystem"
MOUNT = "aws:efs/mountTarget:MountTarget"
ACCESS = "aws:efs/accessPoint:AccessPoint"
BACKUP = "aws:efs/backupPolicy:BackupPolicy"
POLICY = "aws:efs/fileSystemPolicy:FileSystemPolicy"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
TAGS = {"owner": "ml", **MARK}
BASE = {
    "region": "us-east-1",
    "zones": ["use1-az1", "use1-az2"],
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az1": "subnet-1", "use1-az2": "subnet-2", "use1-az4": "subnet-4"},
    "client_security_group_ids": {"nodes": "sg-cluster", "batch": "sg-batch"},
    "tags": TAGS,
}


def build(preview: bool, /, **changes: object) -> Recording[SharedFiles]:
    """Files called shared: the base with ``changes``; None takes an argument away."""
    args = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    return construct(lambda: SharedFiles("shared", cast(SharedFilesArgs, args)), preview)


def known(preview: bool, value: str) -> str:
    """``value`` where the cloud has made it, unknown in preview."""
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def expected_files(**changes: object) -> dict[str, object]:
    """The default file system with ``changes``; None takes a property away."""
    inputs: dict[str, object] = {
        "creationToken": "project-stack-shared",
        "encrypted": True,
        "throughputMode": "elastic",
        "lifecyclePolicies": [
            {"transitionToIa": "AFTER_30_DAYS"},
            {"transitionToPrimaryStorageClass": "AFTER_1_ACCESS"},
        ],
        "tags": named("shared-files"),
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


def test_everything_by_default(preview: bool) -> None:
    recording = build(preview)
    files = known(preview, "shared-files-id")
    group = known(preview, "shared-nfs-id")
    assert recording.inputs(FILES) == {"shared-files": expected_files()}
    assert recording.inputs(BACKUP) == {"shared-backup": {"fileSystemId": files, "backupPolicy": {"status": "ENABLED"}}}
    policy = known(preview, tls_policy("arn:aws:mock::000000000000:shared-files"))
    assert recording.inputs(POLICY) == {"shared-policy": {"fileSystemId": files, "policy": policy}}
    assert recording.inputs(ACCESS) == {
        "shared-access": {
            "fileSystemId": files,
            "posixUser": {"uid": 1000, "gid": 1000},
            "rootDirectory": {
                "path": "/shared",
                "creationInfo": {"ownerUid": 1000, "ownerGid": 1000, "permissions": "0755"},
            },
            "tags": named("shared-access"),
        }
    }
    assert recording.inputs(MOUNT) == {
        "shared-mount-use1-az1": {"fileSystemId": files, "subnetId": "subnet-1", "securityGroups": [group]},
        "shared-mount-use1-az2": {"fileSystemId": files, "subnetId": "subnet-2", "securityGroups": [group]},
    }
    assert recording.inputs(GROUP) == {
        "shared-nfs": {
            "description": "Mount targets of a shared file system",
            "vpcId": "vpc-1",
            "tags": named("shared-nfs"),
        }
    }
    types = {each.type for each in recording.resources}
    assert types == {"gpufleet-aws:index:SharedFiles", FILES, BACKUP, POLICY, ACCESS, MOUNT, GROUP, INGRESS}


def test_only_the_given_groups_reach_it_and_only_over_nfs(preview: bool) -> None:
    recording = build(preview)

    def rule(client: str, client_group: str) -> dict[str, object]:
        return {
            "securityGroupId": known(preview, "shared-nfs-id"),
            "referencedSecurityGroupId": client_group,
            "ipProtocol": "tcp",
            "fromPort": 2049,
            "toPort": 2049,
            "description": f"NFS from {client}",
            "tags": named(f"shared-nfs-from-{client}"),
        }

    assert recording.inputs(INGRESS) == {
        "shared-nfs-from-nodes": rule("nodes", "sg-cluster"),
        "shared-nfs-from-batch": rule("batch", "sg-batch"),
    }


@pytest.mark.parametrize("erase", [False, True])
def test_data_is_protected_unless_erase_is_asked_for(erase: bool, preview: bool) -> None:
    recording = build(preview, erase=erase)
    protected = {each.name: bool(each.protect) for each in recording.resources if each.custom}
    assert protected == {
        "shared-files": not erase,
        "shared-access": not erase,
        "shared-backup": not erase,
        "shared-policy": not erase,
        "shared-nfs": False,
        "shared-nfs-from-nodes": False,
        "shared-nfs-from-batch": False,
        "shared-mount-use1-az1": False,
        "shared-mount-use1-az2": False,
    }
    assert not any(each.retain_on_delete for each in recording.resources)


def test_every_choice_of_the_file_system(preview: bool) -> None:
    recording = build(
        preview,
        throughput="provisioned",
        provisioned_mibps=256.0,
        kms_key_arn="arn:aws:kms:us-east-1:000000000000:key/k",
        infrequent_access_days=0,
        backup=False,
        require_tls=False,
        uid=1001.0,
        gid=2000.0,
        directory="/data/llm",
        permissions="0770",
    )
    assert recording.inputs(FILES) == {
        "shared-files": expected_files(
            throughputMode="provisioned",
            provisionedThroughputInMibps=256,
            kmsKeyId="arn:aws:kms:us-east-1:000000000000:key/k",
            lifecyclePolicies=[],
        )
    }
    assert (recording.of(BACKUP), recording.of(POLICY)) == ([], [])
    access = recording.one(ACCESS).inputs
    assert access["posixUser"] == {"uid": 1001, "gid": 2000}
    assert access["rootDirectory"] == {
        "path": "/data/llm",
        "creationInfo": {"ownerUid": 1001, "ownerGid": 2000, "permissions": "0770"},
    }


@pytest.mark.parametrize(("days", "word"), [(1, "AFTER_1_DAY"), (7, "AFTER_7_DAYS"), (365.0, "AFTER_365_DAYS")])
def test_infrequent_access_in_the_words_of_efs(days: float, word: str, preview: bool) -> None:
    policies = build(preview, infrequent_access_days=days).one(FILES).inputs["lifecyclePolicies"]
    assert policies == [{"transitionToIa": word}, {"transitionToPrimaryStorageClass": "AFTER_1_ACCESS"}]


def test_one_zone_has_one_mount_target_and_the_account_s_name_of_the_zone(preview: bool) -> None:
    recording = build(
        preview,
        zones=["use1-az1"],
        one_zone="use1-az1",
        zone_names={"use1-az1": "us-east-1c", "use1-az2": "us-east-1a"},
    )
    assert recording.inputs(FILES) == {"shared-files": expected_files(availabilityZoneName="us-east-1c")}
    assert recording.names(MOUNT) == ["shared-mount-use1-az1"]


def test_existing_file_system_gets_mount_targets_and_access_point_only(preview: bool) -> None:
    recording = build(preview, file_system_id="fs-0123456789abcdef0")
    assert {each.type for each in recording.resources if each.custom} == {ACCESS, MOUNT, GROUP, INGRESS}
    assert {each.inputs["fileSystemId"] for each in recording.of(MOUNT)} == {"fs-0123456789abcdef0"}
    assert recording.one(ACCESS).inputs["fileSystemId"] == "fs-0123456789abcdef0"
    outputs = recording.outputs["shared"]
    assert outputs["dns_name"] == "fs-0123456789abcdef0.efs.us-east-1.amazonaws.com"


def test_existing_mount_targets_too(preview: bool) -> None:
    recording = build(preview, file_system_id="fs-0123456789abcdef0", zones=[])
    assert {each.type for each in recording.resources if each.custom} == {ACCESS}
    assert recording.outputs["shared"]["mount_target_ids"] == {}


def test_without_access_point(preview: bool) -> None:
    recording = build(preview, access_point=False)
    assert recording.of(ACCESS) == []
    assert "access_point_id" not in recording.outputs["shared"]


def test_options_of_children(preview: bool) -> None:
    recording = build(preview)
    for each in recording.resources:
        assert each.name.startswith("shared")
        assert each.parent == ("shared" if each.custom else "project-stack")
        assert each.depends_on == frozenset(), f"{each.name} waits for more than its inputs"
    assert recording.one(FILES).delete_before_replace is True
    assert recording.one("gpufleet-aws:index:SharedFiles").inputs == {}
    assert recording.one(MOUNT, "shared-mount-use1-az1").property_dependencies == {
        "fileSystemId": frozenset({"shared-files"}),
        "securityGroups": frozenset({"shared-nfs"}),
    }


def test_inputs_from_other_resources_may_be_outputs(preview: bool) -> None:
    changes = {
        "vpc_id": pulumi.Output.from_input("vpc-1"),
        "subnet_ids": {zone: pulumi.Output.from_input(f"subnet-{zone[-1]}") for zone in ("use1-az1", "use1-az2")},
        "client_security_group_ids": {"nodes": pulumi.Output.from_input("sg-cluster"), "batch": "sg-batch"},
    }
    given, plain = build(preview, **changes), build(preview)
    assert {each.name: each for each in given.resources} == {each.name: each for each in plain.resources}


def test_outputs(preview: bool) -> None:
    targets = {zone: f"shared-mount-{zone}-id" for zone in ("use1-az1", "use1-az2")}
    assert build(preview).outputs["shared"] == {
        "file_system_id": known(preview, "shared-files-id"),
        "dns_name": known(preview, "shared-files.efs.invalid"),
        "access_point_id": known(preview, "shared-access-id"),
        "security_group_id": known(preview, "shared-nfs-id"),
        "mount_target_ids": UNKNOWN if preview else targets,
    }


def test_policy_allows_mounts_over_tls_only_and_not_as_root() -> None:
    arn = "arn:aws:elasticfilesystem:us-east-1:000000000000:file-system/fs-1"
    assert json.loads(tls_policy(arn)) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "ThroughMountTargets",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Resource": arn,
                "Action": ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
                "Condition": {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
            },
            {
                "Sid": "TlsOnly",
                "Effect": "Deny",
                "Principal": {"AWS": "*"},
                "Resource": arn,
                "Action": "*",
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ],
    }


NAMES = st.text(st.characters(categories=["Ll", "Nd"], include_characters="-"), min_size=1, max_size=60)


@given(project=NAMES, stack=NAMES, name=NAMES)
def test_creation_token_fits_efs_and_is_the_same_each_time(project: str, stack: str, name: str) -> None:
    token = creation_token(project, stack, name)
    assert 1 <= len(token) <= 64
    assert token == creation_token(project, stack, name)


def test_creation_tokens_of_long_names_stay_apart() -> None:
    long = "x" * 60
    assert creation_token("p", long, "a") == f"p-{long}-a"
    assert creation_token("p", long, "files-a") != creation_token("p", long, "files-b")
    assert len(creation_token("p", long, "files-a")) == 64


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "nobody may mount": (
        {"client_security_group_ids": {}},
        [
            "client_security_group_ids={}: lets nobody mount: TCP 2049 would be open from nowhere; "
            "give the security group of the nodes [aws-files-clients]"
        ],
    ),
    "One Zone under mount targets in two, by an unknown name": (
        {"one_zone": "use1-az1"},
        [
            "one_zone=use1-az1: gives no mount target in use1-az2; set zones=[use1-az1], or leave one_zone out "
            "[aws-files-one-zone]",
            "one_zone=use1-az1: has no entry in zone_names; give this account's name of it, for instance "
            "zone_names={use1-az1: us-east-1a} [aws-files-zone-name]",
        ],
    ),
    "a zone without subnet": (
        {"subnet_ids": {"use1-az1": "subnet-1"}},
        [
            "subnet_ids=[use1-az1]: there is no subnet in zone use1-az2; give the subnet of use1-az2, or use use1-az1 "
            "[any-subnet-for-zone]"
        ],
    ),
    "several faults at once": (
        {"throughput": "fast", "uid": 0, "permissions": "rwx", "infrequent_access_days": 31, "backups": True},
        [
            "backups=true: unknown argument; did you mean backup? [any-argument-known]",
            "uid=0: is root, who may change everybody's files; use 1 to 4294967295, such as 1000 [aws-files-user]",
            "throughput=fast: is not an allowed value; use elastic, bursting or provisioned [any-argument-word]",
            "infrequent_access_days=31: is not a lifecycle period that EFS supports; use 0, 1, 7, 14, 30, 60, 90, "
            "180, 270 "
            "or 365 [aws-files-lifecycle]",
            'permissions=rwx: is not an octal file mode; use three or four digits 0 to 7, such as "0755" '
            "[aws-files-permissions]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(SharedFilesArgs, {**BASE, **changes})
    assert refusal(lambda: SharedFiles("shared", args), preview) == [f"shared: {line}" for line in lines]
