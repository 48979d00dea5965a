"""Shared volumes: one component, one argument that differs."""

import subprocess

import pulumi
import pytest

from gpufleet.kubernetes.shared_volume import SharedVolume, plan_volume
from gpufleet.kubernetes.writable_root import plan_writable_root
from tests.components.recorder import UNKNOWN, construct, refusal

VOLUME, CLAIM = "kubernetes:core/v1:PersistentVolume", "kubernetes:core/v1:PersistentVolumeClaim"
JOB = "kubernetes:batch/v1:Job"
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
OF_ROOT = ("Lustre of FSx", "Managed Lustre")


def volume(name: str, spec: dict[str, object], namespace: str, claim: str) -> dict[str, object]:
    own = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim}
    about = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}}
    return {**about, "spec": {**spec, "claimRef": own}}


def claim_of(name: str, namespace: str, claim: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "volumeName": name,
            "resources": {"requests": {"storage": "1Ti"}},
        },
    }


@pytest.mark.parametrize("case", SOURCES)
def test_volume_and_claim(case, preview):
    source, files, options = SOURCES[case]
    recording = construct(lambda: SharedVolume("files", {"namespace": "vision", "source": source}), preview)
    spec = {
        "capacity": {"storage": "1Ti"},
        "accessModes": ["ReadWriteMany"],
        "volumeMode": "Filesystem",
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "mountOptions": options,
        **files,
    }
    volumes = {"files-volume": volume("vision-shared", spec, "vision", "shared")}
    claims = {"files-claim": claim_of("vision-shared", "vision", "shared")}
    if case in OF_ROOT:
        volumes["files-root-volume"] = volume("vision-shared-root", spec, "kube-system", "vision-shared-root")
        claims["files-root-claim"] = claim_of("vision-shared-root", "kube-system", "vision-shared-root")
    assert recording.inputs(VOLUME) == volumes
    assert recording.inputs(CLAIM) == claims
    assert recording.names(JOB) == (["files-root-job"] if case in OF_ROOT else [])
    claim = recording.one(CLAIM, "files-claim")
    assert (claim.depends_on, claim.replace_with) == ({"files-volume"}, {"files-volume"})
    assert recording.outputs["files"] == {"claim": "shared", "volume": "vision-shared"}


def test_root_of_lustre_is_opened_by_a_job_that_is_root_and_no_more(preview):
    source = {"fsx_lustre": f"{EFS}.fsx.us-east-1.amazonaws.com@tcp:/abcd1234"}
    args = {"namespace": "vision", "source": source, "image": "mirror.example.com/busybox:1", "labels": {"owner": "ml"}}
    job = construct(lambda: SharedVolume("files", args), preview).one(JOB)
    assert (job.depends_on, job.replace_with) == ({"files-root-volume", "files-root-claim"}, {"files-root-volume"})
    assert job.inputs == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "vision-shared-root", "namespace": "kube-system", "labels": {"owner": "ml"}},
        "spec": {
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "securityContext": {
                        "runAsUser": 0,
                        "runAsGroup": 0,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [
                        {
                            "name": "open",
                            "image": "mirror.example.com/busybox:1",
                            "command": ["sh", "-ec", "chmod 1777 /mnt && mkdir -p -m 1777 /mnt/home"],
                            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
                            "volumeMounts": [{"name": "files", "mountPath": "/mnt"}],
                            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                        }
                    ],
                    "volumes": [{"name": "files", "persistentVolumeClaim": {"claimName": "vision-shared-root"}}],
                }
            }
        },
    }


def test_what_the_job_runs_opens_a_directory_and_does_so_again(tmp_path):
    [*_, job] = plan_writable_root(plan_volume({"namespace": "v" * 63, "source": {"nfs": "10.0.0.5:/"}}), "busybox:1")
    assert len(job["metadata"]["name"]) == 63, "it becomes a label"
    [container] = job["spec"]["template"]["spec"]["containers"]
    files = tmp_path / "files"
    files.mkdir(mode=0o755)
    mounted = ["unshare", "--map-root-user", "--mount", "sh", "-ec", 'mount --bind "$0" /mnt && exec "$@"', str(files)]
    for _ in range(2):
        subprocess.run([*mounted, *container["command"]], check=True)
        assert [each.stat().st_mode & 0o7777 for each in (files, files / "home")] == [0o1777, 0o1777]


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
        "source=[]: is not one place; give one of efs, fsx_lustre, azure_lustre, s3, nfs, "
        "azure_blob and azure_files "
        "[any-volume-source-known]",
    ),
    "two places": (
        {"source": {"efs": EFS, "nfs": "10.0.0.5:/export"}},
        "source=[efs, nfs]: is not one place; give one of efs, fsx_lustre, azure_lustre, s3, nfs, "
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
