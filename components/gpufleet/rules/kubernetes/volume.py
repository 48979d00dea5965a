"""Rules on shared volumes."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.aws.bucket_path import BUCKET_NAME
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.kubernetes.device_plugins import validate_object_labels
from gpufleet.rules.kubernetes.mpi_image import validate_image
from gpufleet.rules.kubernetes.mpi_placement import one_zone
from gpufleet.rules.kubernetes.name import name_form
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

KINDS = ("efs", "fsx_lustre", "azure_lustre", "s3", "nfs", "azure_blob", "azure_files")
RECLAIM = ("Retain", "Delete")
_FORMS = {
    "efs": (r"fs-[0-9a-f]{8,40}", "the id of an EFS file system, fs- and 8 to 40 hexadecimal digits"),
    "access_point": (r"fsap-[0-9a-f]{8,40}", "the id of an access point, fsap- and 8 to 40 hexadecimal digits"),
    "fsx_lustre": (r"fs-[0-9a-f]{8,40}(\.[A-Za-z0-9-]+)+@tcp:/[a-z0-9]{1,8}", "<DNS name>@tcp:/<mount name>"),
    "azure_lustre": (r"(\d{1,3}\.){3}\d{1,3}@tcp:/lustrefs", "<address of the management server>@tcp:/lustrefs"),
    "s3": (rf"s3://{BUCKET_NAME}(/[^\s,]*)?", "s3://bucket or s3://bucket/prefix"),
    "nfs": (r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?):(/|(/[^/\s:]+)+)", "server:/directory"),
    "azure_blob": (r"[\w.()-]{1,90}/[a-z0-9]{3,24}/[a-z0-9-]{3,63}", "<resource group>/<account>/<container>"),
    "azure_files": (r"[\w.()-]{1,90}/[a-z0-9]{3,24}/[a-z0-9-]{3,63}", "<resource group>/<account>/<share>"),
}
_QUANTITY = re.compile(r"[1-9]\d*(\.\d+)?([KMGTPE]i|[kMGTPE])?")
_OPTION = re.compile(r"[a-z][a-z0-9_-]*(=[^,\s=]+)?")
_WRITING = {"allow-delete", "allow-overwrite", "incremental-upload"}


@rule("any-volume-source-known", Severity.ERROR)
def one_source(*, kinds: Sequence[str], access_point: bool) -> Outcome:
    """A volume has one source; an access point belongs to an EFS file system.

    Source: https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/persistent-volume-v1/: may
    not specify more than 1 volume type.
    """
    if len(kinds) != 1:
        return failed("source", list(kinds), "is not one place", f"give one of {join_words(KINDS, 'and')}")
    if access_point and kinds[0] != "efs":
        return failed("source.access_point", list(kinds), "is of EFS only", "give efs, or leave access_point out")
    return passed()


@rule("any-volume-place-known", Severity.ERROR)
def place_form(*, argument: str, kind: str, text: str) -> Outcome:
    """A volume's source has the form that its driver expects.

    Source: FileSystemId and AccessPointId of botocore's model of efs; DNSName and LustreFileSystemMountName of that of
    fsx; RFC 7530 and mount.nfs(8) for server:/path; mount.lustre(8);
    https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules for Azure's.
    """
    form, says = _FORMS[kind]
    if re.fullmatch(form, text):
        return passed()
    return failed(argument, text, "does not have the required form", f"write {says}")


@rule("any-volume-capacity", Severity.ERROR)
def capacity_form(*, capacity: str) -> Outcome:
    """A capacity is a quantity of Kubernetes above 0.

    Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    if _QUANTITY.fullmatch(capacity):
        return passed()
    return failed("capacity", capacity, "must be a quantity above 0", "use a number with a unit, such as 500Gi or 1Ti")


@rule("any-volume-option", Severity.ERROR)
def option_form(*, option: str) -> Outcome:
    """Each mount option is one word, or a name, = and a value.

    Source: mount(8), option -o.
    """
    if _OPTION.fullmatch(option):
        return passed()
    return failed(
        "mount_options", option, "must be a single mount option", "write one to an entry, such as nfsvers=4.1"
    )


@rule("any-volume-hard", Severity.ERROR)
def mounted_hard(*, options: Sequence[str]) -> Outcome:
    """A shared volume is mounted hard.

    Source: nfs(5): a soft mount gives up and can corrupt files without a word; a checkpoint is such a file.
    """
    if not {"soft", "softerr"} & set(options):
        return passed()
    problem = "loses what was written while the server was away"
    return failed("mount_options", list(options), problem, "use hard")


@rule("any-volume-bucket-read", Severity.ERROR)
def bucket_read(*, kind: str, options: Sequence[str]) -> Outcome:
    """A bucket that is mounted is read and not written.

    Source: github.com/awslabs/mountpoint-s3 v1.23.0, doc/CONFIGURATION.md (file modifications and deletions): options
    that allow to delete objects, to replace them and to append to them.
    """
    writing = sorted(_WRITING & set(options)) if kind == "s3" else []
    if not writing:
        return passed()
    fix = "leave it out, and write to other shared files"
    return failed("mount_options", writing[0], "changes objects of a bucket that is mounted to be read", fix)


@rule("any-volume-nfs-version", Severity.ERROR)
def nfs_version(*, kind: str, options: Sequence[str]) -> Outcome:
    """Files are mounted with an NFS version that their server supports: EFS 4.0 and 4.1, Azure's file shares 4.1.

    Source: https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-nfs-mount-settings.html,
    https://learn.microsoft.com/azure/storage/files/files-nfs-protocol; NFS 3 itself has no locks.
    """
    spoken = {"efs": ("4", "4.0", "4.1"), "azure_files": ("4.1",), "nfs": ("4", "4.0", "4.1", "4.2")}.get(kind)
    for option in options:
        name, _, version = option.partition("=")
        if spoken and name in ("nfsvers", "vers") and version not in spoken:
            fix = "use nfsvers=4.1"
            return failed("mount_options", option, "is not an NFS version that these files support", fix)
    return passed()


@rule("any-volume-kept", Severity.WARNING)
def files_kept(*, reclaim: str) -> Outcome:
    """Files stay when the claim on them is deleted.

    Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming; the EFS driver deletes the
    access point that a volume names.
    """
    if reclaim != "Delete":
        return passed()
    return failed("reclaim", reclaim, "deletes data, or fails where a driver cannot", "use Retain")


def validate_shared_volume(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a shared volume.

    Reads namespace, claim, source (efs, access_point, fsx_lustre, azure_lustre, s3, nfs, azure_blob,
    azure_files),
    capacity, mount_options, reclaim, zone, image, labels.
    """
    source = coerce.mapping(args, "source")
    kinds = [kind for kind in KINDS if source.get(kind) is not None]
    options = coerce.texts(args, "mount_options")
    reclaim = coerce.text(args, "reclaim", "Retain")
    findings = [
        one_source(kinds=kinds, access_point=source.get("access_point") is not None),
        *(
            place_form(argument=f"source.{kind}", kind=kind, text=text)
            for kind, text in source.items()
            if kind in _FORMS and isinstance(text, str)
        ),
        *(option_form(option=option) for option in options),
        mounted_hard(options=options),
        nfs_version(kind=kinds[0] if len(kinds) == 1 else "", options=options),
        bucket_read(kind=kinds[0] if len(kinds) == 1 else "", options=options),
        allowed_choice(argument="reclaim", word=reclaim, legal=RECLAIM),
        files_kept(reclaim=reclaim),
        capacity_form(capacity=coerce.text(args, "capacity", "1Ti")),
        *validate_image(args),
        *validate_object_labels(args),
    ]
    if isinstance(args.get("zone"), str):
        findings.append(one_zone(zone=coerce.text(args, "zone")))
    named = [each for each in ("namespace", "claim") if isinstance(args.get(each), str)]
    return [*findings, *(name_form(argument=each, name=coerce.text(args, each)) for each in named)]
