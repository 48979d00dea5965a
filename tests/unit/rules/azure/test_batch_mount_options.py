"""Cases of gpufleet.rules.azure.batch_mount_options."""

from gpufleet.rules.azure.batch_mount_options import (
    data_on_blob,
    mount_count,
    mount_credential,
    mount_files_key,
    mount_identity,
    mount_one_kind,
    shared_key,
)

CASES = {
    mount_count: [
        ("10", {"count": 10}, "pass", ""),
        (
            "11",
            {"count": 11},
            "fail",
            (
                "trainers: mount_configuration=11: is more than the 10 file systems that a pool can mount; mount "
                "10 or fewer, such as parents of them [azure-mount-count]"
            ),
        ),
    ],
    mount_one_kind: [
        ("one", {"argument": "mount_configuration[0]", "kinds": ("blob",)}, "pass", ""),
        (
            "two",
            {"argument": "mount_configuration[0]", "kinds": ("blob", "nfs")},
            "fail",
            (
                "trainers: mount_configuration[0]=[blob, nfs]: mounts several file systems in one entry; make an "
                "entry for each [azure-mount-one-kind]"
            ),
        ),
        (
            "none",
            {"argument": "mount_configuration[1]", "kinds": ()},
            "fail",
            (
                "trainers: mount_configuration[1]=[]: mounts nothing; give a blob container, a file share, NFS or "
                "CIFS [azure-mount-one-kind]"
            ),
        ),
    ],
    mount_credential: [
        ("identity", {"argument": "mount_configuration[0]", "given": ("identity_reference",)}, "pass", ""),
        (
            "none",
            {"argument": "mount_configuration[0]", "given": ()},
            "fail",
            (
                "trainers: mount_configuration[0]=[]: has no credential; give identity_reference "
                "[azure-mount-credential]"
            ),
        ),
        (
            "two",
            {"argument": "mount_configuration[0]", "given": ("account_key", "sas_key")},
            "fail",
            (
                "trainers: mount_configuration[0]=[account_key, sas_key]: has account_key and sas_key; keep one of "
                "them; identity_reference needs no key [azure-mount-credential]"
            ),
        ),
    ],
    mount_files_key: [
        ("key", {"argument": "mount_configuration[0]", "has_key": True}, "pass", ""),
        (
            "without",
            {"argument": "mount_configuration[0]", "has_key": False},
            "fail",
            (
                "trainers: mount_configuration[0]=file share: Batch mounts file shares by account key only; give "
                "the account key as a secret, or mount a blob container by identity [azure-mount-files-key]"
            ),
        ),
    ],
    mount_identity: [
        ("has", {"argument": "mount_configuration[0]", "has_identity": True}, "pass", ""),
        (
            "without",
            {"argument": "mount_configuration[0]", "has_identity": False},
            "fail",
            (
                "trainers: mount_configuration[0]=(an identity): the pool has no user-assigned identity; give "
                "identity.user_assigned_identities with this identity [azure-mount-identity]"
            ),
        ),
    ],
    shared_key: [
        (
            "allowed",
            {"argument": "auto_storage", "needs": "its keys", "account": "store01", "allowed": True},
            "pass",
            "",
        ),
        (
            "forbidden",
            {"argument": "auto_storage", "needs": "its keys", "account": "store01", "allowed": False},
            "fail",
            (
                "trainers: auto_storage=store01: needs its keys, and the storage account has "
                "allow_shared_key_access=false; use an identity and blob containers, or set shared_keys=true of "
                "the files [azure-storage-shared-key]"
            ),
        ),
        (
            "unknown",
            {"argument": "mount_configuration[0]", "needs": "a SAS", "account": "store01", "allowed": None},
            "unverified",
            (
                "trainers: mount_configuration[0]=store01: not verified: whether the storage account allows a SAS "
                "is not known; make sure that allow_shared_key_access is not false there "
                "[azure-storage-shared-key]"
            ),
        ),
    ],
    data_on_blob: [
        (
            "share-alone",
            {"shares": ("data",), "others": 0},
            "fail",
            (
                "trainers: mount_configuration=[data]: a file share is slow for training data that many nodes "
                "read; mount a blob container for data, and keep logs here [azure-mount-data-blob]"
            ),
        ),
        ("blob-too", {"shares": ("logs",), "others": 1}, "pass", ""),
        ("no-share", {"shares": (), "others": 0}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
