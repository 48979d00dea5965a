"""Blobs put, got and listed, against Azurite; what it cannot say (roles, network rules) is said by a transport."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.azure_storage import partial_download
from gpufleet.jobs.azure_storage.blob_files import BlobFiles
from gpufleet.jobs.azure_storage.paths import AzureStorage, StoragePath
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.file_transfer import PART_SUFFIX, TransferredFile
from tests.tools.azurite_server import ACCOUNT, Azurite, azurite

pytestmark = pytest.mark.azurite

BYTES = bytes(range(256)) * 4096  # 1 MiB
BLOCK = 2**18
STORAGE = AzureStorage("dev", ACCOUNT, f"https://{ACCOUNT}.blob.core.windows.net", "", ["scripts", "result"], ["logs"])


@pytest.fixture(scope="module")
def here() -> Iterator[Azurite]:
    with azurite() as there:
        yield there


@pytest.fixture
def container(here: Azurite, request: pytest.FixtureRequest) -> Any:
    """A container of the test's own."""
    name = "c" + hashlib.sha256(request.node.name.encode()).hexdigest()[:20]
    return here.service().create_container(name)


class Breaking:
    """A policy of the SDK's pipeline that breaks requests. at: which of those that `wanted` counts, from 1."""

    def __init__(self, wanted: Callable[[Any], bool], *at: int) -> None:
        self.wanted, self.at, self.seen = wanted, set(at), 0

    def __call__(self, request: Any) -> None:
        from azure.core.exceptions import ServiceRequestError

        if self.wanted(request.http_request):
            self.seen += 1
            if self.seen in self.at:
                raise ServiceRequestError("the connection broke")


def blocks(request: Any) -> bool:
    return request.method == "PUT" and re.search(r"comp=block(&|$)", request.url) is not None


def reads(request: Any) -> bool:
    return request.method == "GET" and "comp=" not in request.url


def files(here: Azurite, broken: Breaking | None = None, limit: float = 5) -> BlobFiles:
    from azure.storage.blob import BlobServiceClient

    options: dict[str, Any] = {"raw_request_hook": broken} if broken else {}
    service = BlobServiceClient(
        here.url,
        credential={"account_name": ACCOUNT, "account_key": here.key},
        retry_total=0,
        max_single_get_size=BLOCK,
        max_chunk_get_size=BLOCK,
        **options,
    )
    return BlobFiles(STORAGE, service, backoff=Backoff(first=0.001, longest=0.001, limit=limit), block=BLOCK)


def place(container: Any, path: str = "") -> StoragePath:
    return StoragePath("blob", container.container_name, path)


def test_directory_arrives_and_what_is_there_is_not_sent_again(here: Azurite, container: Any, tmp_path: Path) -> None:
    name = container.container_name
    source = tmp_path / "my data"
    (source / "a b").mkdir(parents=True)
    (source / "a b" / "it's #1?.bin").write_bytes(BYTES)
    (source / "empty").write_bytes(b"")
    assert list(files(here).put(source, place(container, "x"))) == [
        TransferredFile(f"{name}/x/a b/it's #1?.bin", len(BYTES), len(BYTES)),
        TransferredFile(f"{name}/x/empty", 0, 0),
    ]
    assert container.get_blob_client("x/a b/it's #1?.bin").download_blob().readall() == BYTES
    kept = container.get_blob_client("x/a b/it's #1?.bin").get_blob_properties().content_settings.content_md5
    assert bytes(kept) == hashlib.md5(BYTES, usedforsecurity=False).digest()
    assert [each.transferred_bytes for each in files(here).put(source, place(container, "x"))] == [0, 0]
    assert [(each.path, each.size) for each in files(here).list_files(place(container))] == [
        (f"{name}/x/a b/it's #1?.bin", len(BYTES)),
        (f"{name}/x/empty", 0),
    ]
    got = tmp_path / "got"
    assert [each.transferred_bytes for each in files(here).get(place(container, "x"), got)] == [len(BYTES), 0]
    assert (got / "a b" / "it's #1?.bin").read_bytes() == BYTES
    assert [each.transferred_bytes for each in files(here).get(place(container, "x"), got)] == [0, 0]


def test_a_file_goes_into_a_container_under_its_own_name(here: Azurite, container: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(b"print()")
    for path, full in (("", "train.py"), ("run/", "run/train.py"), ("run/other.py", "run/other.py")):
        to = STORAGE.resolve(f"{container.container_name}/{path}", "blob")
        assert to is not None
        [sent] = files(here).put(tmp_path / "train.py", to if not path.endswith("/") else place(container, path))
        assert sent.path == f"{container.container_name}/{full}"


def test_changed_content_takes_the_name_at_once(here: Azurite, container: Any, tmp_path: Path) -> None:
    source = tmp_path / "big"
    source.write_bytes(BYTES)
    list(files(here).put(source, place(container, "big")))
    source.write_bytes(BYTES[::-1])
    broken = files(here, Breaking(blocks, *range(3, 999)), limit=0.2)
    with pytest.raises(UserError) as caught:
        list(broken.put(source, place(container, "big")))
    assert str(caught.value).endswith(f"put it again: what has arrived of {container.container_name}/big is kept")
    assert "\n" not in str(caught.value)
    # What was there is there until all of the new content is.
    assert container.get_blob_client("big").download_blob().readall() == BYTES
    [sent] = files(here).put(source, place(container, "big"))
    assert container.get_blob_client("big").download_blob().readall() == BYTES[::-1]
    assert sent.transferred_bytes == len(BYTES) - 2 * BLOCK


def test_put_that_breaks_goes_on_where_it_was(here: Azurite, container: Any, tmp_path: Path) -> None:
    source = tmp_path / "big"
    source.write_bytes(BYTES + b"end")
    [sent] = files(here, Breaking(blocks, 2, 4)).put(source, place(container, "big"))
    assert container.get_blob_client("big").download_blob().readall() == BYTES + b"end"
    assert sent.transferred_bytes == len(BYTES) + 3


def test_get_that_breaks_goes_on_where_it_was(here: Azurite, container: Any, tmp_path: Path) -> None:
    container.upload_blob("big", BYTES)
    to = tmp_path / "big"
    [sent] = files(here, Breaking(reads, 2, 3)).get(place(container, "big"), to)
    assert (to.read_bytes(), sent.transferred_bytes) == (BYTES, len(BYTES))
    assert [each.name for each in tmp_path.iterdir()] == ["big"]


def test_interrupted_get_leaves_a_part_that_the_next_goes_on_with(
    here: Azurite, container: Any, tmp_path: Path
) -> None:
    container.upload_blob("big", BYTES)
    to = tmp_path / "big"
    with pytest.raises(UserError, match="get it again: what has arrived is beside"):
        list(files(here, Breaking(reads, *range(3, 999)), limit=0.2).get(place(container, "big"), to))
    assert not to.exists()
    [part] = tmp_path.iterdir()
    assert PART_SUFFIX in part.name
    assert part.stat().st_size == 2 * BLOCK
    [sent] = files(here).get(place(container, "big"), to)
    assert (to.read_bytes(), sent.transferred_bytes) == (BYTES, len(BYTES) - 2 * BLOCK)


def test_part_of_other_content_is_not_gone_on_with(here: Azurite, container: Any, tmp_path: Path) -> None:
    container.upload_blob("big", BYTES)
    with pytest.raises(UserError):
        list(files(here, Breaking(reads, *range(3, 999)), limit=0.2).get(place(container, "big"), tmp_path / "big"))
    container.upload_blob("big", BYTES[::-1], overwrite=True)
    [sent] = files(here).get(place(container, "big"), tmp_path / "big")
    assert ((tmp_path / "big").read_bytes(), sent.transferred_bytes) == (BYTES[::-1], len(BYTES))


def test_spoilt_part_is_found_and_thrown_away(here: Azurite, container: Any, tmp_path: Path) -> None:
    container.upload_blob("big", BYTES)
    [known] = [known for _, known in files(here)._below(place(container, "big"))]
    spoilt = partial_download.PartialDownload(tmp_path / "big", known)
    spoilt.resume_offset()
    list(spoilt.append(iter([b"other"])))
    with pytest.raises(UserError, match="what arrived is not what is there"):
        list(files(here).get(place(container, "big"), tmp_path / "big"))
    assert list(tmp_path.iterdir()) == []


def test_blob_without_a_checksum_is_known_by_size_and_time(here: Azurite, container: Any, tmp_path: Path) -> None:
    from azure.storage.blob import BlobBlock

    blob = container.get_blob_client("by-others")
    blob.stage_block("a", b"hello")
    blob.commit_block_list([BlobBlock("a")])
    assert blob.get_blob_properties().content_settings.content_md5 is None
    assert [each.transferred_bytes for each in files(here).get(place(container, "by-others"), tmp_path / "f")] == [5]
    assert [each.transferred_bytes for each in files(here).get(place(container, "by-others"), tmp_path / "f")] == [0]
    os.utime(tmp_path / "f", (1, 1))
    assert [each.transferred_bytes for each in files(here).get(place(container, "by-others"), tmp_path / "f")] == [5]
    # Nobody can say that it is the same: it is sent, and has a checksum from then on.
    assert [each.transferred_bytes for each in files(here).put(tmp_path / "f", place(container, "by-others"))] == [5]
    assert [each.transferred_bytes for each in files(here).put(tmp_path / "f", place(container, "by-others"))] == [0]


def test_directories_of_a_mounted_container_are_no_files(here: Azurite, container: Any, tmp_path: Path) -> None:
    container.upload_blob("run", b"", metadata={"hdi_isfolder": "true"})
    container.upload_blob("run/a", b"a")
    container.upload_blob("runs", b"another")
    name = container.container_name
    assert [each.path for each in files(here).list_files(place(container, "run"))] == [f"{name}/run/a"]
    assert [each.path for each in files(here).get(place(container, "run"), tmp_path / "to")] == [f"{name}/run/a"]
    assert (tmp_path / "to" / "a").read_bytes() == b"a"


def test_file_that_changes_while_it_is_sent_is_not_committed(here: Azurite, container: Any, tmp_path: Path) -> None:
    source = tmp_path / "big"
    source.write_bytes(BYTES)
    copying = files(here)
    copying.progress = lambda path, done, size: source.write_bytes(BYTES[::-1]) if done == BLOCK else None
    with pytest.raises(UserError, match=r"big: has changed while it was sent; put it again when nobody writes it$"):
        list(copying.put(source, place(container, "big")))
    assert not container.get_blob_client("big").exists()


def test_blob_that_changes_while_it_is_fetched_is_one_line(here: Azurite, container: Any, tmp_path: Path) -> None:
    container.upload_blob("big", BYTES)
    copying = files(here)
    other = [BYTES[::-1]]
    copying.progress = lambda path, done, size: (
        container.upload_blob("big", other.pop(), overwrite=True) if other else None
    )
    with pytest.raises(UserError, match=r"big: has changed in the meantime; get it again$"):
        list(copying.get(place(container, "big"), tmp_path / "big"))
    assert not (tmp_path / "big").exists()


def test_what_is_not_there_is_one_line(here: Azurite, container: Any, tmp_path: Path) -> None:
    name = container.container_name
    with pytest.raises(UserError) as caught:
        list(files(here).get(place(container, "no/such"), tmp_path))
    assert str(caught.value) == f"{name}/no/such: file not found in the container {name}"
    (tmp_path / "a").write_bytes(b"a")
    for verb in (
        lambda: list(files(here).put(tmp_path / "a", StoragePath("blob", "none", "a"))),
        lambda: list(files(here).get(StoragePath("blob", "none", "a"), tmp_path)),
        lambda: files(here).list_files(StoragePath("blob", "none", "")),
    ):
        with pytest.raises(UserError) as caught:
            verb()
        assert (
            str(caught.value)
            .partition("none")[2]
            .startswith(("/a: there is no container none in", ": there is no container none in"))
        )
        assert "the stack has scripts, result" in str(caught.value)
    with pytest.raises(UserError, match=r"file or directory not found$"):
        list(files(here).put(tmp_path / "no", place(container)))


def test_blob_of_another_kind_is_one_line(here: Azurite, container: Any, tmp_path: Path) -> None:
    container.get_blob_client("log").create_append_blob()
    (tmp_path / "log").write_bytes(b"text")
    with pytest.raises(UserError) as caught:
        list(files(here).put(tmp_path / "log", place(container, "log")))
    assert str(caught.value).startswith(f"{container.container_name}/log: ")
    assert "\n" not in str(caught.value)


def test_directory_that_cannot_be_written_is_one_line(here: Azurite, container: Any, tmp_path: Path) -> None:
    container.upload_blob("a/b", b"text")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match=r"; give another directory$"):
        list(files(here).get(place(container, "a"), tmp_path / "file" / "in"))
