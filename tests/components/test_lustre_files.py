"""LustreFiles on AWS: exact inputs of every child, who may mount, and what is kept on destroy."""

from typing import cast

import pytest

from gpufleet.aws.lustre_files import LustreFiles, LustreFilesArgs
from tests.components.recorder import MARK, UNKNOWN, Recording, construct, refusal

FILES, LINK = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
TAGS = {"owner": "ml", **MARK}
BASE = {
    "region": "us-east-1",
    "zone": "use1-az1",
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az1": "subnet-1", "use1-az2": "subnet-2"},
    "client_security_group_ids": {"nodes": "sg-cluster"},
    "tags": TAGS,
}


def build(preview: bool, /, **changes: object) -> Recording[LustreFiles]:
    args = cast(LustreFilesArgs, {**BASE, **changes})
    return construct(lambda: LustreFiles("fast", args), preview)


def known(preview: bool, value: str) -> str:
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def rule(name: str, group: str, peer: str, first: int | None, last: int | None, text: str) -> dict[str, object]:
    ports = {} if first is None else {"fromPort": first, "toPort": last}
    protocol = "-1" if first is None else "tcp"
    whole = {"securityGroupId": group, "referencedSecurityGroupId": peer, "ipProtocol": protocol, "description": text}
    return {**whole, **ports, "tags": named(name)}


def test_everything_by_default(preview: bool) -> None:
    recording, group = build(preview), known(preview, "fast-lnet-id")
    assert recording.inputs(FILES) == {
        "fast-lustre": {
            "deploymentType": "PERSISTENT_2",
            "fileSystemTypeVersion": "2.15",
            "storageCapacity": 1200,
            "perUnitStorageThroughput": 125,
            "subnetIds": "subnet-1",
            "securityGroupIds": [group],
            "tags": named("fast-lustre"),
        }
    }
    assert recording.inputs(GROUP) == {
        "fast-lnet": {"description": "File system of FSx for Lustre", "vpcId": "vpc-1", "tags": named("fast-lnet")}
    }
    ports = {"lnet": (988, 988), "lnet-more": (1018, 1023)}
    expected = {}
    for kind, (first, last) in ports.items():
        for peer, members in {"itself": (group, group), "nodes": (group, "sg-cluster")}.items():
            name = f"fast-from-{peer}-{kind}"
            expected[name] = rule(name, *members, first, last, "Lustre")
        name = f"fast-to-nodes-{kind}"
        expected[name] = rule(name, "sg-cluster", group, first, last, "Lustre")
    assert recording.inputs(INGRESS) == expected
    out = {}
    for kind, (first, last) in ports.items():
        for peer, member in {"itself": group, "nodes": "sg-cluster"}.items():
            name = f"fast-{kind}-out-to-{peer}"
            out[name] = rule(name, group, member, first, last, f"Lustre to {peer}")
    assert recording.inputs(EGRESS) == out
    assert recording.names(LINK) == []
    files = recording.one(FILES)
    # FSx refuses a group whose own port is closed; those of clients may come later, and go before.
    assert files.depends_on == {
        "fast-from-itself-lnet",
        "fast-from-itself-lnet-more",
        "fast-lnet-out-to-itself",
        "fast-lnet-more-out-to-itself",
    }
    assert files.protect is True
    assert recording.outputs["fast"] == {
        "file_system_id": known(preview, "fast-lustre-id"),
        "mount_address": known(preview, "fast-lustre.fsx.invalid@tcp:/abcdefgh"),
        "security_group_id": group,
    }


def test_buckets_are_linked_one_after_the_other(preview: bool) -> None:
    buckets = {"/first": "s3://a", "/second": "s3://b", "/third": "s3://c"}
    made = {each.name: each.depends_on for each in build(preview, buckets=buckets).resources if each.type == LINK}
    assert "fast-bucket-first" in made["fast-bucket-second"]
    assert "fast-bucket-second" in made["fast-bucket-third"]


def test_buckets_and_efa(preview: bool) -> None:
    buckets = {"/imagenet": "s3://images/train", "/": "s3://all"}
    changes = {"gib": 9600, "throughput": 500, "efa": True, "kms_key_arn": "arn:aws:kms:us-east-1:1:key/a"}
    recording = build(preview, buckets={"/imagenet": "s3://images/train"}, export=True, erase=True, **changes)
    inputs = recording.one(FILES).inputs
    assert inputs["storageCapacity"] == 9600
    assert inputs["perUnitStorageThroughput"] == 500
    assert inputs["efaEnabled"] is True
    assert inputs["metadataConfiguration"] == {"mode": "AUTOMATIC"}
    assert inputs["kmsKeyId"] == "arn:aws:kms:us-east-1:1:key/a"
    group, events = known(preview, "fast-lnet-id"), {"events": ["NEW", "CHANGED", "DELETED"]}
    assert recording.inputs(INGRESS)["fast-from-nodes-efa"] == rule(
        "fast-from-nodes-efa", group, "sg-cluster", None, None, "Lustre"
    )
    assert recording.inputs(LINK) == {
        "fast-bucket-imagenet": {
            "fileSystemId": known(preview, "fast-lustre-id"),
            "fileSystemPath": "/imagenet",
            "dataRepositoryPath": "s3://images/train",
            "batchImportMetaDataOnCreate": True,
            "s3": {"autoImportPolicy": events, "autoExportPolicy": events},
            "tags": named("fast-bucket-imagenet"),
        }
    }
    assert [recording.one(type_).protect for type_ in (FILES, LINK)] == [False, False]
    assert build(preview, buckets={"/": buckets["/"]}).names(LINK) == ["fast-bucket"]


def test_volume_is_that_of_the_driver() -> None:
    recording = build(False)
    assert recording.result is not None
    assert list(recording.result.for_volume()) == ["fsx_lustre"]


def test_refuses_every_fault_at_once(preview: bool) -> None:
    changes = {"gib": 3600, "throughput": 200, "buckets": {"data": "s3://a"}, "client_security_group_ids": {}}
    args = cast(LustreFilesArgs, {**BASE, **changes, "zone": "use1-az4"})
    lines = refusal(lambda: LustreFiles("fast", args), preview)
    assert [line.rpartition("[")[2].rstrip("]") for line in lines] == [
        "aws-lustre-throughput",
        "aws-lustre-buckets",
        "aws-lustre-clients",
        "aws-lustre-size",
        "any-subnet-for-zone",
    ]


@pytest.mark.parametrize(("gib", "throughput"), [(2400, 1000), (4800, 500)])
def test_efa_has_sizes_of_its_own(gib: int, throughput: int, preview: bool) -> None:
    args = cast(LustreFilesArgs, {**BASE, "efa": True, "gib": gib, "throughput": throughput})
    (line,) = refusal(lambda: LustreFiles("fast", args), preview)
    assert line.endswith("[aws-lustre-efa-size]")
