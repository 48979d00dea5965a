"""Cases of gpufleet.rules.azure.batch_mounts, and of its validation."""

from gpufleet.rules import Status
from gpufleet.rules.azure.batch_mounts import (
    data_on_blob,
    mount_count,
    mount_credential,
    mount_files_key,
    mount_identity,
    mount_mapping,
    mount_one_kind,
    mount_path,
    shared_key,
    validate_batch_mounts,
)

CASES = {
    mount_path: [
        ("plain", {"argument": "mounts[0].path", "path": "scripts"}, "pass", ""),
        ("deep", {"argument": "mounts[0].path", "path": "data/train_1.v2"}, "pass", ""),
        (
            "absolute",
            {"argument": "mounts[0].path", "path": "/scripts"},
            "fail",
            (
                "trainers: mounts[0].path=/scripts: must be a plain relative path; use one such as scripts: it lies "
                "under $AZ_BATCH_NODE_MOUNTS_DIR on each node [azure-batch-mount-path]"
            ),
        ),
        (
            "up",
            {"argument": "mounts[0].path", "path": "data/../.."},
            "fail",
            (
                "trainers: mounts[0].path=data/../..: must be a plain relative path; use one such as scripts: it lies "
                "under $AZ_BATCH_NODE_MOUNTS_DIR on each node [azure-batch-mount-path]"
            ),
        ),
        (
            "slash",
            {"argument": "mounts[0].path", "path": "data/"},
            "fail",
            (
                "trainers: mounts[0].path=data/: must be a plain relative path; use one such as scripts: it lies under "
                "$AZ_BATCH_NODE_MOUNTS_DIR on each node [azure-batch-mount-path]"
            ),
        ),
        (
            "space",
            {"argument": "mounts[0].path", "path": "my data"},
            "fail",
            (
                "trainers: mounts[0].path=my data: must be a plain relative path; use one such as scripts: it lies "
                "under "
                "$AZ_BATCH_NODE_MOUNTS_DIR on each node [azure-batch-mount-path]"
            ),
        ),
    ],
    mount_mapping: [
        ("mapping", {"argument": "mounts[0]", "given": "dict", "is_one": True}, "pass", ""),
        (
            "text",
            {"argument": "mounts[0]", "given": "str", "is_one": False},
            "fail",
            (
                "trainers: mounts[0]=(str): must be a mapping that describes a mount; give a list of mappings, each "
                "such as {kind: blob, account: store, container: scripts, path: scripts} [azure-batch-mount-words]"
            ),
        ),
    ],
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


BLOB = {"kind": "blob", "account": "store", "container": "scripts", "path": "scripts", "region": "eastus"}
FILES = {
    "kind": "files",
    "account": "store",
    "share": "logs",
    "path": "logs",
    "account_key": "c2VjcmV0",
    "region": "eastus",
    "shared_keys": True,
}
NFS = {"kind": "nfs", "source": "store.blob.core.windows.net:/store/data", "path": "data"}


def lines(*mounts: object) -> list[str]:
    findings = validate_batch_mounts({"mounts": mounts}, "eastus")
    return [each.line("pool") for each in findings if each.status is not Status.PASS]


def test_one_of_each_kind_passes():
    assert lines(BLOB, FILES, NFS) == []
    assert validate_batch_mounts({}, "eastus") == []


def test_every_fault_of_a_mount_at_once():
    wrong = {**BLOB, "share": "x", "path": "/scripts", "region": 3}
    del wrong["container"]
    assert [line.partition(": ")[2].partition(":")[0] for line in lines(wrong, {"kind": "nsf"}, {"path": "x"}, 3)] == [
        "mounts[0].share=x",
        "mounts[0].container=null",
        "mounts[0].region=3",
        "mounts[0].path=/scripts",
        "mounts[0]=store",
        "mounts[1].kind=nsf",
        "mounts[2].kind=null",
        "mounts[3]=(int)",
    ]


def test_a_file_share_needs_its_key_and_an_account_that_takes_it():
    keyless = {key: value for key, value in FILES.items() if key != "account_key"}
    assert [line.rpartition("[")[2] for line in lines(keyless, BLOB)] == ["azure-mount-files-key]"]
    assert [line.rpartition("[")[2] for line in lines({**FILES, "shared_keys": False}, BLOB)] == [
        "azure-storage-shared-key]"
    ]
    unknown = {key: value for key, value in FILES.items() if key not in ("shared_keys", "region")}
    assert all("not verified" in line for line in lines(unknown, BLOB))
    assert len(lines(unknown, BLOB)) == 2


def test_a_container_takes_no_key_and_no_key_is_shown():
    found = lines({**BLOB, "account_key": "c2VjcmV0"}, {**NFS, "account_key": "c2VjcmV0"})
    assert [line.rpartition("[")[2] for line in found] == ["azure-mount-credential]", "any-argument-known]"]
    assert "c2VjcmV0" not in "".join(found)


def test_a_share_alone_is_slow_for_data():
    assert [line.rpartition("[")[2] for line in lines(FILES)] == ["azure-mount-data-blob]"]


def test_ten_mounts_and_each_path_once():
    many = [{**BLOB, "path": f"m{number}"} for number in range(11)]
    assert lines(*many[:10]) == []
    assert [line.rpartition("[")[2] for line in lines(*many)] == ["azure-mount-count]"]
    assert [line.rpartition("[")[2] for line in lines(BLOB, BLOB)] == ["any-argument-distinct]"]


def test_mounts_that_are_no_list():
    (finding,) = validate_batch_mounts({"mounts": "scripts"}, "eastus")
    assert finding.rejects
