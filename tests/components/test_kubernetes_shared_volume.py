"""Shared volumes: one component, one argument that differs."""

import pulumi
import pytest

from gpufleet.kubernetes.shared_volume import SharedVolume
from tests.components.recorder import UNKNOWN, construct, refusal

VOLUME, CLAIM = "kubernetes:core/v1:PersistentVolume", "kubernetes:core/v1:PersistentVolumeClaim"
EFS = "fs-0123456789abcdef0"
POINT = "fsap-0123456789abcdef0"
AZURE = {"protocol": "nfs", "resourceGroup": "train-rg", "storageAccount": "trainfiles"}

SOURCES = {
    "efs": (
        {"efs": EFS},
        {"csi": {"driver": "efs.csi.aws.com", "volumeHandle": EFS}},
        ["nfsvers=4.1", "hard", "noresvport", "tls"],
    ),
    "access point": (
        {"efs": EFS, "access_point": POINT},
        {"csi": {"driver": "efs.csi.aws.com", "volumeHandle": f"{EFS}::{POINT}"}},
        ["nfsvers=4.1", "hard", "noresvport", "tls"],
    ),
    "Lustre of FSx": (
        {"fsx_lustre": f"{EFS}.fsx.us-east-1.amazonaws.com@tcp:/abcd1234"},
        {
            "csi": {
                "driver": "fsx.csi.aws.com",
                "volumeHandle": EFS,
                "volumeAttributes": {"dnsname": f"{EFS}.fsx.us-east-1.amazonaws.com", "mountname": "abcd1234"},
            }
        },
        ["flock", "noatime"],
    ),
    "Managed Lustre": (
        {"azure_lustre": "10.60.128.4@tcp:/lustrefs"},
        {
            "csi": {
                "driver": "azurelustre.csi.azure.com",
                "volumeHandle": "lustre-10-60-128-4",
                "volumeAttributes": {"mgs-ip-address": "10.60.128.4"},
            }
        },
        ["noatime", "flock"],
    ),
    "nfs": (
        {"nfs": "filer.example.com:/export/shared"},
        {"nfs": {"server": "filer.example.com", "path": "/export/shared"}},
        ["nfsvers=4.1", "hard"],
    ),
    "nfs by IPv6": (
        {"nfs": "[fd00::5]:/"},
        {"nfs": {"server": "fd00::5", "path": "/"}},
        ["nfsvers=4.1", "hard"],
    ),
    "blob": (
        {"azure_blob": "train-rg/trainfiles/data"},
        {
            "csi": {
                "driver": "blob.csi.azure.com",
                "volumeHandle": "trainfiles_data",
                "volumeAttributes": {**AZURE, "containerName": "data"},
            }
        },
        [],
    ),
    "file share": (
        {"azure_files": "train-rg/trainfiles/data"},
        {
            "csi": {
                "driver": "file.csi.azure.com",
                "volumeHandle": "trainfiles_data",
                "volumeAttributes": {**AZURE, "shareName": "data"},
            }
        },
        ["nfsvers=4.1", "hard", "noresvport", "nconnect=4"],
    ),
}


@pytest.mark.parametrize("case", SOURCES)
def test_volume_and_claim(case, preview):
    source, files, options = SOURCES[case]
    recording = construct(lambda: SharedVolume("files", {"namespace": "vision", "source": source}), preview)
    assert recording.inputs(VOLUME) == {
        "files-volume": {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "vision-shared"},
            "spec": {
                "capacity": {"storage": "1Ti"},
                "accessModes": ["ReadWriteMany"],
                "volumeMode": "Filesystem",
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": "",
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": "vision",
                    "name": "shared",
                },
                "mountOptions": options,
                **files,
            },
        }
    }
    assert recording.inputs(CLAIM) == {
        "files-claim": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "shared", "namespace": "vision"},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "",
                "volumeName": "vision-shared",
                "resources": {"requests": {"storage": "1Ti"}},
            },
        }
    }
    claim = recording.one(CLAIM)
    assert (claim.depends_on, claim.replace_with) == ({"files-volume"}, {"files-volume"})
    assert recording.outputs["files"] == {"claim": "shared", "volume": "vision-shared"}


def test_everything_said(preview):
    args = {
        "namespace": "vision",
        "source": {"nfs": "10.0.0.5:/export"},
        "claim": "data",
        "capacity": "500Gi",
        "mount_options": ["nfsvers=4.2", "hard"],
        "reclaim": "Delete",
        "zone": "use1-az1",
        "labels": {"owner": "ml"},
    }
    recording = construct(lambda: SharedVolume("files", args), preview)
    volume, claim = recording.one(VOLUME).inputs, recording.one(CLAIM).inputs
    assert volume["metadata"] == {"name": "vision-data", "labels": {"owner": "ml"}}
    assert claim["metadata"] == {"name": "data", "namespace": "vision", "labels": {"owner": "ml"}}
    assert volume["spec"]["capacity"] == claim["spec"]["resources"]["requests"] == {"storage": "500Gi"}
    assert volume["spec"]["mountOptions"] == ["nfsvers=4.2", "hard"]
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    here = {"key": "gpufleet.dev/zone-id", "operator": "In", "values": ["use1-az1"]}
    assert volume["spec"]["nodeAffinity"] == {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}


def test_a_file_system_that_is_still_to_be_made(preview):
    def build() -> SharedVolume:
        files = pulumi.CustomResource("aws:efs/fileSystem:FileSystem", "fs", {})
        return SharedVolume("files", {"namespace": "vision", "source": {"efs": files.id}})

    recording = construct(build, preview)
    handle = recording.one(VOLUME).inputs["spec"]["csi"]["volumeHandle"]
    assert handle == (UNKNOWN if preview else "fs-id")
    assert recording.outputs["files"] == {"claim": "shared", "volume": "vision-shared"}


REFUSED = {
    "nowhere": (
        {"source": {}},
        "source=[]: is not one place; give one of efs, fsx_lustre, azure_lustre, nfs, "
        "azure_blob and azure_files "
        "[any-volume-source-known]",
    ),
    "two places": (
        {"source": {"efs": EFS, "nfs": "10.0.0.5:/export"}},
        "source=[efs, nfs]: is not one place; give one of efs, fsx_lustre, azure_lustre, nfs, "
        "azure_blob and azure_files "
        "[any-volume-source-known]",
    ),
    "a server without a directory": (
        {"source": {"nfs": "10.0.0.5"}},
        "source.nfs=10.0.0.5: does not have the required form; write server:/directory [any-volume-place-known]",
    ),
    "soft": (
        {"mount_options": ["soft"]},
        "mount_options=[soft]: loses what was written while the server was away; use hard [any-volume-hard]",
    ),
    "capacity": (
        {"capacity": "lots"},
        (
            "capacity=lots: must be a quantity above 0; use a number with a unit, such as 500Gi or 1Ti "
            "[any-volume-capacity]"
        ),
    ),
    "zone by name": (
        {"zone": "us-east-1a"},
        "zone=us-east-1a: is a zone name, which means another zone in another account; use the zone's id, such as "
        "use1-az1 [any-mpi-zone]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case, preview):
    change, line = REFUSED[case]
    args = {"namespace": "vision", "source": {"efs": EFS}, **change}
    assert refusal(lambda: SharedVolume("files", args), preview) == [f"files: {line}"]


def test_claim_goes_with_its_namespace_and_the_volume_after_it(preview):
    """Else a destroy waits for the jobs that mount the claim, and the volume for the claim."""

    def build() -> None:
        namespace = pulumi.CustomResource("kubernetes:core/v1:Namespace", "vision")
        opts = pulumi.ResourceOptions(deleted_with=namespace)
        SharedVolume("files", {"namespace": "vision", "source": {"efs": EFS}}, opts)

    made = construct(build, preview)
    claim = made.one(CLAIM)
    assert (claim.deleted_with, claim.depends_on) == ("vision", {"files-volume", "vision"})
    others = [made.one(VOLUME), made.one("gpufleet-kubernetes:index:SharedVolume")]
    assert [(each.deleted_with, each.depends_on) for each in others] == [("", frozenset())] * 2
