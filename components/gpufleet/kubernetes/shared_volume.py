"""SharedVolume: a shared file system as a volume that every pod of a team mounts, wherever the files are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, TypeVar, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.kubernetes.volume_source import VolumeSource
from gpufleet.kubernetes.writable_root import IMAGE, plan_writable_root
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.aws.bucket_path import bucket_and_prefix
from gpufleet.rules.kubernetes.volume import validate_shared_volume

Reclaim = Literal["Retain", "Delete"]
T = TypeVar("T")

_OPTIONS = {
    "efs": ("nfsvers=4.1", "hard", "noresvport", "tls"),
    "fsx_lustre": ("flock", "noatime"),
    "azure_lustre": ("noatime", "flock"),
    "s3": ("read-only", "allow-other"),
    "nfs": ("nfsvers=4.1", "hard"),
    "azure_files": ("nfsvers=4.1", "hard", "noresvport", "nconnect=4"),
    "azure_blob": (),
}
"""Mount options by kind. hard: a server that is away makes writers wait instead of losing what they wrote. noresvport:
the client comes back from another port after the connection broke; EFS and Azure ask for it. Blob storage's NFS is 3.0,
with options of its driver's own. flock: locks that hold on all nodes; noatime: no write for each read.
read-only: Mountpoint refuses every change of a bucket; allow-other: users other than its own read.

Sources: docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html,
learn.microsoft.com/azure/storage/files/nfs-performance,
learn.microsoft.com/azure/storage/blobs/network-file-system-protocol-support-how-to,
github.com/kubernetes-sigs/aws-fsx-csi-driver, examples/kubernetes/static_provisioning,
github.com/kubernetes-sigs/azurelustre-csi-driver, docs/examples/pv.yaml,
github.com/awslabs/mountpoint-s3 v1.23.0, doc/CONFIGURATION.md (file system configuration)
"""

_OF_ROOT = ("fsx_lustre", "azure_lustre")
"""Files whose root directory belongs to root when they are new."""


class SharedVolumeConfig(TypedDict):
    """How files are mounted, and what happens to them."""

    claim: NotRequired[str]
    """Name of the claim, which jobs mount. Default shared."""
    capacity: NotRequired[str]
    """What volume and claim say to be, in Kubernetes' quantities; none of these servers enforces it. Default 1Ti."""
    mount_options: NotRequired[Sequence[str]]
    """Mount options. Default for NFS 4.1: nfsvers=4.1, hard, and what EFS and Azure add to them. Those of a bucket are
    added to read-only, allow-other, its region and its prefix."""
    reclaim: NotRequired[Reclaim]
    """What happens to the files when the claim is deleted: Retain or Delete. Default Retain."""
    image: NotRequired[str]
    """Image with sh for the job that makes a new Lustre writable, with a tag or digest. Default
    docker.io/library/busybox:1.37. Not used for other files."""


class SharedVolumeArgs(SharedVolumeConfig):
    """The same, where the files are, and the namespace that mounts them."""

    namespace: str
    """Namespace of the claim. It has to exist."""
    source: VolumeSource
    """Where the files are."""
    zone: NotRequired[str]
    """Zone id of files that can be mounted in one zone only; pods are then placed there. Default: any zone."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects."""


def kind_of(source: Mapping[str, Any]) -> str:
    """efs, fsx_lustre, azure_lustre, s3, nfs, azure_blob or azure_files: the one that a source has."""
    return next(kind for kind in _OPTIONS if source.get(kind) is not None)


def plan_volume(args: SharedVolumeArgs) -> dict[str, Any]:
    """The PersistentVolume. `args` has passed the rules.

    It is bound to its claim from the start, so that no other claim takes it; and since volumes have no namespace, its
    name begins with the claim's.
    """
    namespace, claim = args["namespace"], args.get("claim", "shared")
    kind = kind_of(args["source"])
    spec: dict[str, Any] = {
        "capacity": {"storage": args.get("capacity", "1Ti")},
        "accessModes": _access(args),
        "volumeMode": "Filesystem",
        "persistentVolumeReclaimPolicy": args.get("reclaim", "Retain"),
        # No class: a class would make a new, empty volume for a claim that came first.
        "storageClassName": "",
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim},
        "mountOptions": list(args.get("mount_options", _OPTIONS[kind])),
        **(_bucket(args, f"{namespace}-{claim}") if kind == "s3" else _files(kind, args["source"])),
    }
    if "zone" in args:
        here = {"key": "gpufleet.dev/zone-id", "operator": "In", "values": [args["zone"]]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}
    metadata = {"name": f"{namespace}-{claim}"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


def plan_claim(args: SharedVolumeArgs) -> dict[str, Any]:
    """The PersistentVolumeClaim. `args` has passed the rules."""
    namespace, claim = args["namespace"], args.get("claim", "shared")
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim, "namespace": namespace},
        "spec": {
            "accessModes": _access(args),
            "storageClassName": "",
            "volumeName": f"{namespace}-{claim}",
            "resources": {"requests": {"storage": args.get("capacity", "1Ti")}},
        },
    }


def _access(args: SharedVolumeArgs) -> list[str]:
    return ["ReadOnlyMany"] if kind_of(args["source"]) == "s3" else ["ReadWriteMany"]


def _bucket(args: SharedVolumeArgs, handle: str) -> dict[str, Any]:
    """The fields of a volume's spec that say which bucket.

    Handle: the driver mounts once for each, so that two volumes of one bucket need two. Source:
    github.com/awslabs/mountpoint-s3-csi-driver v2.7.0, docs/CONFIGURATION.md (static provisioning) and
    pkg/driver/node/volumecontext/volume_context.go (bucketName); pkg/mountpoint/args.go: options as name=value.
    """
    source, options = args["source"], [*_OPTIONS["s3"], *args.get("mount_options", ())]
    if "bucket_region" in source:
        options.append(f"region={source['bucket_region']}")
    named = {"bucketName": _read(source["s3"], lambda text: bucket_and_prefix(text)[0])}
    csi = {"driver": "s3.csi.aws.com", "volumeHandle": handle, "volumeAttributes": named}
    return {"csi": csi, "mountOptions": _read(source["s3"], lambda text: _with_prefix(options, text))}


def _with_prefix(options: Sequence[str], path: str) -> list[str]:
    _, prefix = bucket_and_prefix(path)
    return [*options, f"prefix={prefix}"] if prefix else [*options]


def _files(kind: str, source: Mapping[str, Any]) -> dict[str, Any]:
    """The field of a volume's spec that says where the files are."""
    place = source[kind]
    if kind == "nfs":
        # server:/path, where an IPv6 address of the server is in brackets.
        server = _read(place, lambda text: text.rpartition(":/")[0].strip("[]"))
        return {"nfs": {"server": server, "path": _read(place, lambda text: f"/{text.rpartition(':/')[2]}")}}
    if kind == "efs":
        point = source.get("access_point")
        # <file system>:<path>:<access point>: github.com/kubernetes-sigs/aws-efs-csi-driver, examples/access_points.
        handle = place if point is None else _joined(place, point)
        return {"csi": {"driver": "efs.csi.aws.com", "volumeHandle": handle}}
    if kind == "fsx_lustre":
        address = _read(place, lambda text: text.partition("@")[0])
        mounted = {"dnsname": address, "mountname": _read(place, lambda text: text.rpartition(":/")[2])}
        handle = _read(place, lambda text: text.partition(".")[0])
        return {"csi": {"driver": "fsx.csi.aws.com", "volumeHandle": handle, "volumeAttributes": mounted}}
    if kind == "azure_lustre":
        address = _read(place, lambda text: text.partition("@")[0])
        handle = _read(place, lambda text: f"lustre-{text.partition('@')[0].replace('.', '-')}")
        mounted = {"mgs-ip-address": address}
        return {"csi": {"driver": "azurelustre.csi.azure.com", "volumeHandle": handle, "volumeAttributes": mounted}}
    driver, store = ("blob", "containerName") if kind == "azure_blob" else ("file", "shareName")
    attributes = {
        "protocol": "nfs",
        "resourceGroup": _read(place, lambda text: text.split("/")[0]),
        "storageAccount": _read(place, lambda text: text.split("/")[1]),
        store: _read(place, lambda text: text.split("/")[2]),
    }
    # The drivers want a handle that no other volume of the cluster has:
    # learn.microsoft.com/azure/aks/azure-csi-files-storage-provision.
    handle = _read(place, lambda text: "_".join(text.split("/")[1:]))
    return {"csi": {"driver": f"{driver}.csi.azure.com", "volumeHandle": handle, "volumeAttributes": attributes}}


def _read(place: pulumi.Input[str], part: Callable[[str], T]) -> pulumi.Input[T]:
    """What a text says, now or when it is known."""
    if isinstance(place, str):
        return part(place)
    return pulumi.Output.all(place).apply(lambda texts: part(texts[0]))


def _joined(files: pulumi.Input[str], point: pulumi.Input[str]) -> pulumi.Input[str]:
    if isinstance(files, str) and isinstance(point, str):
        return f"{files}::{point}"
    return pulumi.Output.concat(files, "::", point)


class SharedVolume(Component):
    """A ReadWriteMany volume and its claim, for files that outlive the cluster; of a bucket, a ReadOnlyMany one.

    Every file keeps the uid of the job that wrote it, but on an EFS access point, which has its own user. The
    drivers of EFS, Lustre and Azure have to be on the cluster; NFS needs none. Of Lustre, a job in kube-system makes
    the root directory writable for all users, and a folder `home` in it.

    A claim is not deleted as long as a pod mounts it, nor its volume before it. A change that replaces the volume
    therefore replaces its claim too, after the jobs that mount it have ended. And where one program makes the namespace
    too, name it as `deleted_with` of the options, and not under `depends_on`: the claim is made after it and
    goes with it and its jobs.
    """

    claim: pulumi.Output[str]
    """Name of the claim, for those who mount it."""
    volume: pulumi.Output[str]
    """Name of the volume."""

    def __init__(
        self, name: str, args: SharedVolumeArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[SharedVolumeArgs]
    ) -> None:
        self._namespace = opts.deleted_with if opts is not None else None
        if opts is not None:
            # Children inherit it, but a volume is in no namespace.
            opts = pulumi.ResourceOptions.merge(opts, None)
            opts.deleted_with = None
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: SharedVolumeArgs) -> list[Finding]:
        return validate_shared_volume(args)

    def create(self, name: str, args: SharedVolumeArgs) -> None:
        labels, namespace = args.get("labels", {}), self._namespace
        volume = kubernetes_object(f"{name}-volume", labelled(plan_volume(args), labels), self.child())
        needed = [volume] if namespace is None else [volume, namespace]
        # A volume waits for its claim to be deleted (pv-protection), and the claim's volumeName cannot change.
        inside = self.child(depends_on=needed, deleted_with=namespace, replace_with=[volume])
        claim = kubernetes_object(f"{name}-claim", labelled(plan_claim(args), labels), inside)
        if kind_of(args["source"]) in _OF_ROOT:
            self._open_root(name, args)
        claim_name = args.get("claim", "shared")
        self.claim = with_dependencies(pulumi.Output.from_input(claim_name), claim)
        self.volume = with_dependencies(pulumi.Output.from_input(f"{args['namespace']}-{claim_name}"), volume)

    def _open_root(self, name: str, args: SharedVolumeArgs) -> None:
        made: list[pulumi.Resource] = []
        for document in plan_writable_root(plan_volume(args), args.get("image", IMAGE)):
            # Another file system's root is opened by another job.
            opts = self.child(depends_on=made, replace_with=made[:1])
            part = f"{name}-root-{document['kind'].removeprefix('PersistentVolume').lower() or 'volume'}"
            made.append(kubernetes_object(part, labelled(document, args.get("labels", {})), opts))
