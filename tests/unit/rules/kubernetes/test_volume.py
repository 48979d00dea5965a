"""Cases of gpufleet.rules.kubernetes.volume."""

from gpufleet.rules.kubernetes.volume import (
    bucket_read,
    capacity_form,
    files_kept,
    mounted_hard,
    nfs_version,
    one_source,
    option_form,
    place_form,
)

CASES = {
    one_source: [
        ("one", {"kinds": ("nfs",), "access_point": False}, "pass", ""),
        ("point", {"kinds": ("efs",), "access_point": True}, "pass", ""),
        (
            "none",
            {"kinds": (), "access_point": False},
            "fail",
            (
                "trainers: source=[]: is not one place; give one of efs, fsx_lustre, azure_lustre, s3, nfs, "
                "azure_blob and azure_files "
                "[any-volume-source-known]"
            ),
        ),
        (
            "two",
            {"kinds": ("efs", "nfs"), "access_point": False},
            "fail",
            (
                "trainers: source=[efs, nfs]: is not one place; give one of efs, fsx_lustre, azure_lustre, s3, nfs, "
                "azure_blob and "
                "azure_files [any-volume-source-known]"
            ),
        ),
        (
            "point-of-nfs",
            {"kinds": ("nfs",), "access_point": True},
            "fail",
            (
                "trainers: source.access_point=[nfs]: is of EFS only; give efs, or leave access_point out [any-"
                "volume-source-known]"
            ),
        ),
    ],
    place_form: [
        ("efs", {"argument": "source.efs", "kind": "efs", "text": "fs-0123456789abcdef0"}, "pass", ""),
        ("efs-old", {"argument": "source.efs", "kind": "efs", "text": "fs-01234567"}, "pass", ""),
        (
            "efs-name",
            {"argument": "source.efs", "kind": "efs", "text": "fs-0123456789abcdef0.efs.us-east-1.amazonaws.com"},
            "fail",
            (
                "trainers: source.efs=fs-0123456789abcdef0.efs.us-east-1.amazonaws.com: does not have the required "
                "form; write "
                "the id of an EFS file system, fs- and 8 to 40 hexadecimal digits [any-volume-place-known]"
            ),
        ),
        (
            "point",
            {"argument": "source.access_point", "kind": "access_point", "text": "fsap-0123456789abcdef0"},
            "pass",
            "",
        ),
        (
            "point-of-files",
            {"argument": "source.access_point", "kind": "access_point", "text": "fs-0123456789abcdef0"},
            "fail",
            (
                "trainers: source.access_point=fs-0123456789abcdef0: does not have the required form; write the id of "
                "an access"
                " point, fsap- and 8 to 40 hexadecimal digits [any-volume-place-known]"
            ),
        ),
        ("nfs", {"argument": "source.nfs", "kind": "nfs", "text": "10.0.0.5:/export/shared"}, "pass", ""),
        ("nfs-root", {"argument": "source.nfs", "kind": "nfs", "text": "filer.example.com:/"}, "pass", ""),
        ("nfs-ipv6", {"argument": "source.nfs", "kind": "nfs", "text": "[fd00::5]:/export"}, "pass", ""),
        (
            "nfs-url",
            {"argument": "source.nfs", "kind": "nfs", "text": "nfs://10.0.0.5/export"},
            "fail",
            (
                "trainers: source.nfs=nfs://10.0.0.5/export: does not have the required form; write server:/directory "
                "[any-"
                "volume-place-known]"
            ),
        ),
        (
            "nfs-without-path",
            {"argument": "source.nfs", "kind": "nfs", "text": "10.0.0.5"},
            "fail",
            (
                "trainers: source.nfs=10.0.0.5: does not have the required form; write server:/directory "
                "[any-volume-place-known]"
            ),
        ),
        ("blob", {"argument": "source.azure_blob", "kind": "azure_blob", "text": "train/trainfiles/data"}, "pass", ""),
        (
            "blob-url",
            {
                "argument": "source.azure_blob",
                "kind": "azure_blob",
                "text": "https://trainfiles.blob.core.windows.net/data",
            },
            "fail",
            (
                "trainers: source.azure_blob=https://trainfiles.blob.core.windows.net/data: does not have the "
                "required form; "
                "write <resource group>/<account>/<container> [any-volume-place-known]"
            ),
        ),
        (
            "share",
            {"argument": "source.azure_files", "kind": "azure_files", "text": "train-rg/trainfiles/data"},
            "pass",
            "",
        ),
    ],
    capacity_form: [
        ("ti", {"capacity": "1Ti"}, "pass", ""),
        ("plain", {"capacity": "1000000"}, "pass", ""),
        ("decimal", {"capacity": "1.5Ti"}, "pass", ""),
        (
            "tb",
            {"capacity": "1TB"},
            "fail",
            (
                "trainers: capacity=1TB: must be a quantity above 0; use a number with a unit, such as 500Gi or 1Ti "
                "[any-volume-capacity]"
            ),
        ),
        (
            "zero",
            {"capacity": "0Gi"},
            "fail",
            (
                "trainers: capacity=0Gi: must be a quantity above 0; use a number with a unit, such as 500Gi or 1Ti "
                "[any-volume-capacity]"
            ),
        ),
        (
            "empty",
            {"capacity": ""},
            "fail",
            (
                "trainers: capacity='': must be a quantity above 0; use a number with a unit, such as 500Gi or 1Ti "
                "[any-volume-capacity]"
            ),
        ),
    ],
    option_form: [
        ("pair", {"option": "nfsvers=4.1"}, "pass", ""),
        ("word", {"option": "hard"}, "pass", ""),
        (
            "several",
            {"option": "hard,nfsvers=4.1"},
            "fail",
            (
                "trainers: mount_options=hard,nfsvers=4.1: must be a single mount option; write one to an entry, "
                "such as nfsvers=4.1 [any-volume-option]"
            ),
        ),
        (
            "dash",
            {"option": "-o hard"},
            "fail",
            (
                "trainers: mount_options=-o hard: must be a single mount option; write one to an entry, such as "
                "nfsvers=4.1 [any-volume-option]"
            ),
        ),
    ],
    bucket_read: [
        ("options", {"kind": "s3", "options": ("max-threads=32",)}, "pass", ""),
        ("none", {"kind": "s3", "options": ()}, "pass", ""),
        ("other-files", {"kind": "nfs", "options": ("allow-delete",)}, "pass", ""),
        (
            "delete",
            {"kind": "s3", "options": ("max-threads=32", "allow-delete")},
            "fail",
            "trainers: mount_options=allow-delete: changes objects of a bucket that is mounted to be read; leave it "
            "out, and write to other shared files [any-volume-bucket-read]",
        ),
    ],
    mounted_hard: [
        ("hard", {"options": ("hard",)}, "pass", ""),
        ("default", {"options": ()}, "pass", ""),
        (
            "soft",
            {"options": ("nfsvers=4.1", "soft")},
            "fail",
            (
                "trainers: mount_options=[nfsvers=4.1, soft]: loses what was written while the server was away; "
                "use hard [any-volume-hard]"
            ),
        ),
        (
            "softerr",
            {"options": ("softerr",)},
            "fail",
            (
                "trainers: mount_options=[softerr]: loses what was written while the server was away; use hard "
                "[any-volume-hard]"
            ),
        ),
    ],
    nfs_version: [
        ("efs-4.1", {"kind": "efs", "options": ("nfsvers=4.1",)}, "pass", ""),
        (
            "efs-4.2",
            {"kind": "efs", "options": ("hard", "nfsvers=4.2")},
            "fail",
            (
                "trainers: mount_options=nfsvers=4.2: is not an NFS version that these files support; use nfsvers=4.1 "
                "[any-volume-nfs-version]"
            ),
        ),
        (
            "efs-3",
            {"kind": "efs", "options": ("vers=3",)},
            "fail",
            (
                "trainers: mount_options=vers=3: is not an NFS version that these files support; use nfsvers=4.1 [any-"
                "volume-nfs-version]"
            ),
        ),
        ("nfs-4.2", {"kind": "nfs", "options": ("nfsvers=4.2",)}, "pass", ""),
        (
            "nfs-3",
            {"kind": "nfs", "options": ("nfsvers=3",)},
            "fail",
            (
                "trainers: mount_options=nfsvers=3: is not an NFS version that these files support; use nfsvers=4.1 "
                "[any-volume-nfs-version]"
            ),
        ),
        (
            "share-4.0",
            {"kind": "azure_files", "options": ("vers=4.0",)},
            "fail",
            (
                "trainers: mount_options=vers=4.0: is not an NFS version that these files support; use nfsvers=4.1 "
                "[any-volume-nfs-version]"
            ),
        ),
        ("blob-3", {"kind": "azure_blob", "options": ("vers=3",)}, "pass", ""),
    ],
    files_kept: [
        ("kept", {"reclaim": "Retain"}, "pass", ""),
        (
            "deleted",
            {"reclaim": "Delete"},
            "fail",
            ("trainers: reclaim=Delete: deletes data, or fails where a driver cannot; use Retain [any-volume-kept]"),
        ),
    ],
}


def test_case(case):
    case.check()
