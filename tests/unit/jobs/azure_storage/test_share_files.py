"""Files of a share put, got and listed, through the SDK's own pipeline, against a stand-in (see fake_shares)."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.azure_storage import clients
from gpufleet.jobs.azure_storage.paths import AzureStorage, StoragePath
from gpufleet.jobs.azure_storage.share_files import ShareFiles
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.file_transfer import PART_SUFFIX, TransferredFile
from tests.tools.fake_shares import HOST, FakeShares, Token

BYTES = bytes(range(256)) * 4096  # 1 MiB
PIECE = 2**18
STORAGE = AzureStorage("dev", "traindata01", "https://traindata01.blob.core.windows.net", HOST, ["scripts"], ["logs"])


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> FakeShares:
    monkeypatch.setattr(clients, "credential", Token)
    return FakeShares()


def files(shares: FakeShares, limit: float = 5) -> ShareFiles:
    from azure.core.pipeline.transport import RequestsTransport

    transport = RequestsTransport(session=shares.session(), session_owner=False)
    service = clients.share_service(STORAGE, transport=transport, retry_total=0)
    return ShareFiles(STORAGE, service, backoff=Backoff(first=0.001, longest=0.001, limit=limit), piece=PIECE)


def place(path: str = "") -> StoragePath:
    return StoragePath("files", "logs", path)


def test_directory_arrives_and_what_is_there_is_not_sent_again(shares: FakeShares, tmp_path: Path) -> None:
    source = tmp_path / "my data"
    (source / "a b").mkdir(parents=True)
    (source / "a b" / "it's.bin").write_bytes(BYTES + b"end")
    (source / "empty").write_bytes(b"")
    assert list(files(shares).put(source, place("x/y"))) == [
        TransferredFile("logs/x/y/a b/it's.bin", len(BYTES) + 3, len(BYTES) + 3),
        TransferredFile("logs/x/y/empty", 0, 0),
    ]
    assert bytes(shares.files["logs/x/y/a b/it's.bin"].content) == BYTES + b"end"
    assert shares.directories == {"logs/x", "logs/x/y", "logs/x/y/a b"}
    shares.calls.clear()
    assert [each.transferred_bytes for each in files(shares).put(source, place("x/y"))] == [0, 0]
    assert set(shares.calls) == {"HEAD"}
    assert [(each.path, each.size) for each in files(shares).list_files(place())] == [
        ("logs/x/y/a b/it's.bin", len(BYTES) + 3),
        ("logs/x/y/empty", 0),
    ]
    got = tmp_path / "got"
    assert [each.transferred_bytes for each in files(shares).get(place("x"), got)] == [len(BYTES) + 3, 0]
    assert (got / "y" / "a b" / "it's.bin").read_bytes() == BYTES + b"end"
    assert [each.transferred_bytes for each in files(shares).get(place("x"), got)] == [0, 0]


def test_put_that_breaks_goes_on_where_it_was(shares: FakeShares, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(BYTES)
    shares.breaks = {2, 4}
    [sent] = files(shares).put(tmp_path / "big", place("big"))
    assert bytes(shares.files["logs/big"].content) == BYTES
    assert (sent.transferred_bytes, list(shares.files)) == (len(BYTES), ["logs/big"])


def test_interrupted_put_keeps_what_was_there_and_the_next_goes_on(shares: FakeShares, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(BYTES)
    shares.touch("logs/big", b"before")
    shares.breaks = set(range(3, 999))
    with pytest.raises(UserError, match=r"put it again: what has arrived of logs/big is kept$"):
        list(files(shares, limit=0.2).put(tmp_path / "big", place("big")))
    assert bytes(shares.files["logs/big"].content) == b"before"
    # On its way: no file of the share.
    assert f"logs/big{PART_SUFFIX}" in shares.files
    assert [each.path for each in files(shares).list_files(place())] == ["logs/big"]
    shares.breaks = set()
    os.utime(tmp_path / "big", (1, 1))
    [sent] = files(shares).put(tmp_path / "big", place("big"))
    assert (sent.transferred_bytes, bytes(shares.files["logs/big"].content)) == (len(BYTES) - 2 * PIECE, BYTES)


def test_part_of_other_content_is_not_gone_on_with(shares: FakeShares, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(BYTES)
    shares.breaks = set(range(3, 999))
    with pytest.raises(UserError):
        list(files(shares, limit=0.2).put(tmp_path / "big", place("big")))
    shares.breaks = set()
    (tmp_path / "big").write_bytes(BYTES[::-1])
    [sent] = files(shares).put(tmp_path / "big", place("big"))
    assert (sent.transferred_bytes, bytes(shares.files["logs/big"].content)) == (len(BYTES), BYTES[::-1])


def test_what_a_node_has_written_since_is_not_taken_for_what_was_put(shares: FakeShares, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"ours")
    list(files(shares).put(tmp_path / "a", place("a")))
    shares.touch("logs/a", b"node")
    assert [each.transferred_bytes for each in files(shares).get(place("a"), tmp_path / "got")] == [4]
    assert (tmp_path / "got").read_bytes() == b"node"
    assert [each.transferred_bytes for each in files(shares).put(tmp_path / "a", place("a"))] == [4]
    assert bytes(shares.files["logs/a"].content) == b"ours"


def test_log_that_grows_is_fetched_as_it_was_and_again_when_it_has_grown(shares: FakeShares, tmp_path: Path) -> None:
    shares.touch("logs/out", b"a" * PIECE + b"b")
    copying = files(shares)
    copying.progress = lambda path, done, size: shares.touch(
        "logs/out", b"a" * PIECE + b"bc", "2026-11-21T11:00:00.0000000Z"
    )
    assert [each.transferred_bytes for each in copying.get(place("out"), tmp_path / "out")] == [PIECE + 1]
    assert (tmp_path / "out").read_bytes() == b"a" * PIECE + b"b"
    assert [each.transferred_bytes for each in files(shares).get(place("out"), tmp_path / "out")] == [PIECE + 2]
    assert (tmp_path / "out").read_bytes() == b"a" * PIECE + b"bc"


def test_file_that_was_put_and_changes_while_it_is_fetched_is_one_line(shares: FakeShares, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(BYTES)
    list(files(shares).put(tmp_path / "big", place("big")))
    copying = files(shares)
    copying.progress = lambda path, done, size: shares.touch("logs/big", BYTES + b"more")
    with pytest.raises(UserError, match=r"^logs/big: has changed in the meantime; get it again$"):
        list(copying.get(place("big"), tmp_path / "got"))
    assert not (tmp_path / "got").exists()


def test_file_that_changes_while_it_is_sent_gets_no_name(shares: FakeShares, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(BYTES)
    copying = files(shares)
    copying.progress = lambda path, done, size: (tmp_path / "big").write_bytes(BYTES[::-1]) if done == PIECE else None
    with pytest.raises(UserError, match=r"big: has changed while it was sent; put it again when nobody writes it$"):
        list(copying.put(tmp_path / "big", place("big")))
    assert "logs/big" not in shares.files


@pytest.mark.parametrize(
    ("refusal", "verb", "line"),
    [
        ((403, "AuthorizationPermissionMismatch"), "put",
         "logs/a: the identity in use may not write here; ask for the role Storage File Data Privileged Contributor on "
         "traindata01 (`az role assignment create --role 'Storage File Data Privileged Contributor'`), which holds "
         "after some minutes"),
        ((403, "AuthorizationPermissionMismatch"), "get",
         "logs/a: the identity in use may not read here; ask for the role Storage File Data Privileged Reader on "
         "traindata01 (`az role assignment create --role 'Storage File Data Privileged Reader'`), which holds after "
         "some minutes"),
        ((403, "AuthorizationFailure"), "put",
         "logs/a: the network rules of traindata01 do not let this machine in; copy from inside the environment's "
         "network, or add this address to its rules"),
        ((403, "KeyBasedAuthenticationNotPermitted"), "list",
         "logs/a: traindata01 takes no account keys (shared keys are off); sign in with `az login`"),
        ((409, "SharingViolation"), "put",
         "logs/a: is open on a node, which lets nobody else write it; put it again when the job is over"),
        ((404, "ShareNotFound"), "put",
         "logs/a: there is no file share logs in traindata01 (the stack has logs); add it to gpufleet:files and "
         "run `pulumi up`"),
        ((409, "ShareBeingDeleted"), "get",
         "logs/a: the file share logs is being deleted; run `pulumi up` in some minutes"),
        ((404, "ResourceNotFound"), "get", "logs/a: file not found in the file share logs"),
    ],
)  # fmt: skip
def test_refusal_is_one_line_with_a_way_out(
    shares: FakeShares, tmp_path: Path, refusal: tuple[int, str], verb: str, line: str
) -> None:
    (tmp_path / "a").write_bytes(b"a")
    shares.refusal = refusal
    verbs: dict[str, Callable[[], object]] = {
        "put": lambda: list(files(shares).put(tmp_path / "a", place("a"))),
        "get": lambda: list(files(shares).get(place("a"), tmp_path / "b")),
        "list": lambda: files(shares).list_files(place("a")),
    }
    with pytest.raises(UserError) as caught:
        verbs[verb]()
    assert str(caught.value) == line


def test_service_that_is_busy_is_asked_again_and_then_given_up(shares: FakeShares, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    shares.refusal = (503, "ServerBusy")
    with pytest.raises(UserError, match=r"ServerBusy.*; put it again: what has arrived of logs/a is kept$"):
        list(files(shares, limit=0.1).put(tmp_path / "a", place("a")))
    assert len(shares.calls) > 3


def test_stack_without_file_shares_is_one_line() -> None:
    with pytest.raises(UserError, match=r"^dev: the stack's outputs have no file shares \(jobs\.azure_batch"):
        clients.share_service(AzureStorage("dev", "a", "https://a.invalid", "", [], []))


@pytest.mark.parametrize(
    ("make", "fix"),
    [
        (clients.blob_service, "run `gpufleet rehearse dev -- gpufleet ...`"),
        (clients.share_service, "a rehearsal plays its containers, and no file shares"),
    ],
)
def test_rehearsed_account_is_reached_in_its_rehearsal_only(make: Any, fix: str) -> None:
    host = "https://traindata01.{}.rehearsal.invalid"
    storage = AzureStorage("dev", "traindata01", host.format("blob"), host.format("file"), [], [])
    with pytest.raises(UserError) as told:
        make(storage)
    assert str(told.value) == f"dev: the storage account traindata01 is a rehearsal's; {fix}"
