"""Cases of gpufleet.rules.azure.batch_mounts, and its door."""

from gpufleet.rules import Status
from gpufleet.rules.azure.batch_mounts import mount_path, mount_words, validate_batch_mounts

CASES = {
    mount_path: [
        ("plain", {"argument": "mounts[0].path", "path": "scripts"}, "pass", ""),
        ("deep", {"argument": "mounts[0].path", "path": "data/train_1.v2"}, "pass", ""),
        (
            "absolute",
            {"argument": "mounts[0].path", "path": "/scripts"},
            "fail",
            (
                "trainers: mounts[0].path=/scripts: is no plain relative path; use one such as scripts: it lies "
                "under $AZ_BATCH_NODE_MOUNTS_DIR on each node [azure-batch-mount-path]"
            ),
        ),
        (
            "up",
            {"argument": "mounts[0].path", "path": "data/../.."},
            "fail",
            (
                "trainers: mounts[0].path=data/../..: is no plain relative path; use one such as scripts: it lies "
                "under $AZ_BATCH_NODE_MOUNTS_DIR on each node [azure-batch-mount-path]"
            ),
        ),
        (
            "slash",
            {"argument": "mounts[0].path", "path": "data/"},
            "fail",
            (
                "trainers: mounts[0].path=data/: is no plain relative path; use one such as scripts: it lies under "
                "$AZ_BATCH_NODE_MOUNTS_DIR on each node [azure-batch-mount-path]"
            ),
        ),
        (
            "space",
            {"argument": "mounts[0].path", "path": "my data"},
            "fail",
            (
                "trainers: mounts[0].path=my data: is no plain relative path; use one such as scripts: it lies under "
                "$AZ_BATCH_NODE_MOUNTS_DIR on each node [azure-batch-mount-path]"
            ),
        ),
    ],
    mount_words: [
        ("mapping", {"argument": "mounts[0]", "given": "dict", "is_one": True}, "pass", ""),
        (
            "text",
            {"argument": "mounts[0]", "given": "str", "is_one": False},
            "fail",
            (
                "trainers: mounts[0]=(str): is no mapping that says what to mount; give a list of mappings, each "
                "such as {kind: blob, account: store, container: scripts, path: scripts} [azure-batch-mount-words]"
            ),
        ),
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
    assert finding.refuses
