"""Batch accounts and containers of a simulated cloud, by the SDKs' clients that `gpufleet` uses."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.azure_batch.blobs import JobBlobs
from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_batch.latest_image import REGISTRY_ENDPOINT, newest_images, put_played
from gpufleet.jobs.azure_batch.login import BATCH_ENDPOINT, BLOB_ENDPOINT
from gpufleet.jobs.azure_batch.settings import AzureBatchSettings
from gpufleet.jobs.azure_storage.blob_files import BlobFiles
from gpufleet.jobs.azure_storage.clients import blob_service
from gpufleet.jobs.azure_storage.paths import AzureStorage, StoragePath, azure_storage
from gpufleet.jobs.settings import read_settings
from gpufleet_rehearsal.azure_batch import rehearsed_accounts
from gpufleet_rehearsal.azure_batch.rehearsed_accounts import RehearsedAccounts
from gpufleet_rehearsal.azure_batch.server import batch_handler
from gpufleet_rehearsal.azure_registry import REGISTRY, registry_handler
from gpufleet_rehearsal.azure_storage import containers
from gpufleet_rehearsal.azure_storage.containers import Containers
from gpufleet_rehearsal.azure_storage.server import blob_handler
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.loopback import serve
from tests.tools.fake_azure_batch import outputs, play

FIXED = {"fixedScale": {"targetDedicatedNodes": 1}}


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    """The account `devbatch` with a pool of one node that is there, and `devfiles` with a container."""
    (tmp_path / "rehearsal.json").write_text('{"latency_scale": 0}')
    made = open_cloud("azure-native", tmp_path)
    add(made, rehearsed_accounts.ACCOUNT, "batch", accountName="devbatch", location="eastus")
    pool: dict[str, Any] = {"accountName": "devbatch", "poolName": "fixed-1", "vmSize": "Standard_NC4as_T4_v3"}
    add(made, rehearsed_accounts.POOL, "pool", **pool, scaleSettings=FIXED, currentDedicatedNodes=1)
    add(made, containers.ACCOUNT, "files", accountName="devfiles")
    add(made, containers.CONTAINER, "result", accountName="devfiles", containerName="result")
    return made


def add(cloud: Cloud, type_: str, name: str, **inputs: Any) -> None:
    cloud.store.add(
        type_=type_, id_=name, urn=f"urn:pulumi:dev::p::{type_}::{name}", name=name, inputs=inputs, outputs={}, at=0.0,
        ready_at=0.0,
    )  # fmt: skip


@contextmanager
def served(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[AzureBatchClient]:
    """The cloud's services for a client, as long as a command runs."""
    accounts, held = RehearsedAccounts(cloud), Containers(Store(cloud.store.path))
    with serve(batch_handler(accounts.open)) as batch, serve(blob_handler(held)) as blobs:
        play(monkeypatch, BATCH_ENDPOINT, batch)
        monkeypatch.setenv(BLOB_ENDPOINT, blobs)
        yield AzureBatchClient(settings(), retries=0)


def settings() -> AzureBatchSettings:
    found = read_settings(outputs(), "dev").azure_batch
    assert found is not None
    return found


def storage() -> AzureStorage:
    found = azure_storage(outputs()["jobs"], "dev")
    assert found is not None
    return found


def submit(azure: AzureBatchClient, name: str = "train") -> None:
    azure.call("create_job", model="BatchJobCreateOptions", body={"id": name, "poolInfo": {"poolId": "fixed-1"}})
    url = "https://devfiles.blob.core.rehearsal.invalid/result"
    output = {
        "filePattern": "../stdout.txt",
        "destination": {"container": {"containerUrl": url, "path": f"jobs/{name}/stdout.txt"}},
        "uploadOptions": {"uploadCondition": "taskcompletion"},
    }
    task = {"id": "main", "commandLine": "true", "outputFiles": [output]}
    azure.call("create_task", name, model="BatchTaskCreateOptions", body=task)


def test_job_ends_and_its_log_lies_in_the_container(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(cloud, monkeypatch) as azure:
        submit(azure)
        task = azure.find("get_task", "train", "main")
        assert task is not None
        assert (task["state"], task["executionInfo"]["exitCode"]) == ("completed", 0)
        log = JobBlobs(storage()).read("result", "jobs/train/stdout.txt")
        assert log == b"rehearsed: no container ran; no image on 1 node of fixed-1\n"
    # The next command knows it still.
    with served(cloud, monkeypatch) as azure:
        assert [job["id"] for job in azure.list_all("list_jobs")] == ["train"]


def test_pool_is_as_the_subscription_has_it(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(cloud, monkeypatch) as azure:
        azure.begin("begin_resize_pool", "fixed-1", model="BatchPoolResizeOptions", body={"targetDedicatedNodes": 3})
        assert nodes(azure) == 3
        # An `up` that does not scale it leaves it, and one that does sets it.
        (pool,) = cloud.store.resources(rehearsed_accounts.POOL)
        pool = cloud.store.change(pool, inputs={**pool.inputs, "metadata": [{"name": "team", "value": "vision"}]})
        assert nodes(azure) == 3
        scaled = {"fixedScale": {"targetDedicatedNodes": 2}}
        pool = cloud.store.change(pool, inputs={**pool.inputs, "scaleSettings": scaled})
        assert nodes(azure) == 2
        cloud.store.remove(pool, 0.0)
        assert azure.find("get_pool", "fixed-1") is None


def nodes(azure: AzureBatchClient) -> int:
    pool = azure.find("get_pool", "fixed-1")
    assert pool is not None
    return int(pool["currentDedicatedNodes"])


def test_account_that_the_cloud_does_not_have(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    (account,) = cloud.store.resources(rehearsed_accounts.ACCOUNT)
    cloud.store.remove(account, 0.0)
    with served(cloud, monkeypatch) as azure, pytest.raises(AzureBatchError) as told:
        list(azure.list_all("list_jobs"))
    assert str(told.value) == (
        "Azure Batch: list_jobs: AccountNotFound: The simulated cloud has no Batch account devbatch."
    )


def test_files_go_to_a_container_and_come_back(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "b & c").mkdir(parents=True)
    (folder / "a.bin").write_bytes(bytes(range(256)) * 20_000)
    (folder / "b & c" / "empty").write_bytes(b"")
    with served(cloud, monkeypatch):
        files, place = BlobFiles(storage(), blob_service(storage()), block=2**20), StoragePath("blob", "result", "x")
        assert [each.transferred_bytes for each in files.put(folder, place)] == [5_120_000, 0]
        assert [(each.size, each.path) for each in files.list_files(place)] == [
            (5_120_000, "result/x/a.bin"),
            (0, "result/x/b & c/empty"),
        ]
        list(files.get(place, tmp_path / "back"))
        assert (tmp_path / "back" / "a.bin").read_bytes() == (folder / "a.bin").read_bytes()
        assert (tmp_path / "back" / "b & c" / "empty").read_bytes() == b""


@pytest.mark.parametrize(
    ("account", "container", "code"),
    [
        ("devfiles", "result", "BlobNotFound"),
        ("devfiles", "none", "ContainerNotFound"),
        ("x", "result", "ResourceNotFound"),
    ],
)
def test_blob_that_is_not_there(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, account: str, container: str, code: str
) -> None:
    from azure.core.exceptions import ResourceNotFoundError
    from azure.storage.blob import BlobServiceClient

    with served(cloud, monkeypatch):
        url = f"{blob_service(storage()).url.rstrip('/').rpartition('/')[0]}/{account}"
        client = BlobServiceClient(url, retry_total=0).get_blob_client(container, "x")
        with pytest.raises(ResourceNotFoundError) as told:
            client.get_blob_properties()
    assert told.value.error_code == code


def test_what_is_not_played_is_refused(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    from azure.core.exceptions import HttpResponseError

    with served(cloud, monkeypatch):
        client = blob_service(storage(), retry_total=0).get_blob_client("result", "x")
        with pytest.raises(HttpResponseError, match="A rehearsal does not play DELETE /devfiles/result/x of a storage"):
            client.delete_blob()


def test_image_that_was_named_last(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    host = "devimages.azurecr.rehearsal.invalid"
    add(cloud, REGISTRY, "images", loginServer=host)
    urls = {name: f"{host}/{name}" for name in ("training", "none")}
    with serve(registry_handler(Store(cloud.store.path))) as url:
        play(monkeypatch, REGISTRY_ENDPOINT, url)
        put_played(urls["training"], "v1", b"one")
        put_played(urls["training"], "v2", b"two")
        put_played(urls["training"], "v1", b"three")
        found = newest_images(urls)
    assert {name: (image.tag, image.digest) for name, image in found.items()} == {
        "training": ("v1", f"sha256:{hashlib.sha256(b'three').hexdigest()}")
    }
    # Elsewhere such a host is nobody's, and nothing is put.
    monkeypatch.delenv(REGISTRY_ENDPOINT)
    put_played(urls["training"], "v1", b"one")
    assert newest_images(urls) == {}
