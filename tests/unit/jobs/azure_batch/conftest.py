"""An environment on Azure Batch, and `gpufleet` as its user types it. Blobs are in memory, Azurite is elsewhere."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.azure_batch import backend, client, follow
from gpufleet.jobs.azure_batch.login import BATCH_ENDPOINT
from gpufleet.jobs.settings import JobSettings, read_settings
from tests.tools.batch_account import FakeBatch
from tests.tools.fake_azure_batch import fake_batch, outputs, play

Run = Callable[..., Result]


class MemoryBlobs:
    """Stands in for a storage account: content by container and name."""

    def __init__(self, *_: object) -> None:
        self.content: dict[tuple[str, str], bytes] = {}

    def put(self, container: str, name: str, file: Path) -> None:
        self.content[container, name] = file.read_bytes()

    def read(self, container: str, name: str, begin: int = 0) -> bytes | None:
        found = self.content.get((container, name))
        return None if found is None else found[begin:]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBatch]:
    with fake_batch() as batch:
        play(monkeypatch, BATCH_ENDPOINT, batch.url)
        yield batch


@pytest.fixture
def blobs(monkeypatch: pytest.MonkeyPatch) -> MemoryBlobs:
    made = MemoryBlobs()
    monkeypatch.setattr(backend, "JobBlobs", lambda *_: made)
    return made


@pytest.fixture
def settings() -> JobSettings:
    return read_settings(outputs(), "dev")


@pytest.fixture
def run(here: FakeBatch, blobs: MemoryBlobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("LOGNAME", "ana")
    # Following looks without long pauses, and the SDK's own tries pause for seconds.
    monkeypatch.setattr(
        backend, "AzureBatchJobFollower", partial(follow.AzureBatchJobFollower, shortest=0.02, longest=0.02)
    )
    monkeypatch.setattr(backend, "AzureBatchClient", partial(client.AzureBatchClient, retries=0))

    def invoke(*arguments: str, given: dict[str, Any] | None = None) -> Result:
        """given: the stack's outputs."""
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(outputs() if given is None else given))
        at = arguments.index("dev") + 1
        return CliRunner().invoke(main, [*arguments[:at], "--outputs", str(file), *arguments[at:]])

    return invoke
