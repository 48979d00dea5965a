"""An environment on AWS Batch, and `gpufleet` as its user types it."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.batch import array, aws, backend, follow
from gpufleet.jobs.settings import Settings, settings_from
from played_aws import PlayedAws, outputs, played

Run = Callable[..., Result]


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/no/such")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/no/such")


@pytest.fixture
def here(credentials: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlayedAws]:
    with played() as aws:
        monkeypatch.setenv("AWS_ENDPOINT_URL", aws.url)
        yield aws


@pytest.fixture
def settings() -> Settings:
    return settings_from(outputs(), "dev")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Following looks without long pauses."""
    pace = {"shortest": 0.02, "longest": 0.02, "drain": 0.5}
    monkeypatch.setattr(backend, "Following", partial(follow.Following, **pace))
    # boto3's own tries pause for seconds.
    monkeypatch.setattr(backend, "Aws", partial(aws.Aws, attempts=1))
    monkeypatch.setattr(follow, "Children", partial(array.Children, shortest=0.0))


@pytest.fixture
def run(here: PlayedAws, quick: None, tmp_path: Path) -> Run:
    def invoke(*arguments: str, given: dict[str, Any] | None = None) -> Result:
        """given: the stack's outputs."""
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(outputs() if given is None else given))
        at = arguments.index("dev") + 1
        return CliRunner().invoke(main, [*arguments[:at], "--outputs", str(file), *arguments[at:]])

    return invoke
