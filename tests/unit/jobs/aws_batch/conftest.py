"""An environment on AWS Batch, and `gpufleet` as its user types it."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.aws_batch import array_jobs, backend, client, follow
from gpufleet.jobs.settings import JobSettings, read_settings
from tests.tools.fake_aws import FakeAws, outputs, played

Run = Callable[..., Result]


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A name with what no tag may have. Not before tmp_path: the folder of all tests' files has the user's name.
    monkeypatch.setenv("LOGNAME", "LAB\\ana")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/no/such")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/no/such")


@pytest.fixture
def here(credentials: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAws]:
    with played() as client:
        monkeypatch.setenv("AWS_ENDPOINT_URL", client.url)
        yield client


@pytest.fixture
def settings() -> JobSettings:
    return read_settings(outputs(), "dev")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Following looks without long pauses."""
    pace = {"shortest": 0.02, "longest": 0.02, "drain": 0.5}
    monkeypatch.setattr(backend, "AwsBatchJobFollower", partial(follow.AwsBatchJobFollower, **pace))
    # boto3's own tries pause for seconds.
    monkeypatch.setattr(backend, "AwsBatchClient", partial(client.AwsBatchClient, attempts=1))
    monkeypatch.setattr(follow, "ArrayChildren", partial(array_jobs.ArrayChildren, shortest=0.0))


@pytest.fixture
def run(here: FakeAws, quick: None, tmp_path: Path) -> Run:
    def invoke(*arguments: str, given: dict[str, Any] | None = None) -> Result:
        """given: the stack's outputs."""
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(outputs() if given is None else given))
        at = arguments.index("dev") + 1
        return CliRunner().invoke(main, [*arguments[:at], "--outputs", str(file), *arguments[at:]])

    return invoke
