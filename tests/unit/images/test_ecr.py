"""What ECR is asked before a build. AWS is moto, which knows immutable repositories but not their exceptions."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from gpufleet.errors import UserError
from gpufleet.images.ecr import advice, immutable
from gpufleet.images.repository import Repository

HOST = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
TRAINING = Repository("dev/training", f"{HOST}/dev/training")
MANIFEST = (
    '{"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", '
    '"config": {"mediaType": "x", "digest": "sha256:1", "size": 1}, "layers": []}'
)


@pytest.fixture
def ecr(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    with mock_aws():
        client = boto3.client("ecr", "us-east-1")
        for name, kind in (("dev/training", "IMMUTABLE"), ("tools", "MUTABLE")):
            client.create_repository(repositoryName=name, imageTagMutability=kind)
            client.put_image(repositoryName=name, imageManifest=MANIFEST, imageTag="v1")
        yield client


def test_tag_that_is_taken_for_good_is_refused(ecr: Any) -> None:
    assert advice(TRAINING, "v2") == advice(Repository("tools", f"{HOST}/tools"), "v1") == []
    with pytest.raises(UserError) as error:
        advice(TRAINING, "v1")
    assert str(error.value) == (
        f"{HOST}/dev/training: tag=v1: this tag exists, and the repository's tags are immutable; give "
        "another --tag, or none"
    )


def test_repository_that_is_not_there_is_refused(ecr: Any) -> None:
    with pytest.raises(UserError, match="repository not found in ECR in us-east-1; `pulumi up` creates it"):
        advice(Repository("dev/none", f"{HOST}/dev/none"), "v1")


def test_what_may_not_be_looked_at_is_said(ecr: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/no/such")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/no/such")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    [line] = advice(TRAINING, "v2")
    assert line.startswith(f"not verified: whether {HOST}/dev/training:v2 can be pushed: AWS credentials: Unable to")


def test_other_registries_are_not_asked() -> None:
    assert advice(Repository("a", "127.0.0.1:5000/a"), "v1") == []


@pytest.mark.parametrize(
    ("kind", "filters", "tag", "kept"),
    [
        ("IMMUTABLE", [], "v1", True),
        ("MUTABLE", [], "v1", False),
        ("IMMUTABLE_WITH_EXCLUSION", ["dev*"], "v1", True),
        ("IMMUTABLE_WITH_EXCLUSION", ["dev*"], "dev", False),
        ("IMMUTABLE_WITH_EXCLUSION", ["dev*"], "dev-2", False),
        ("IMMUTABLE_WITH_EXCLUSION", ["dev*"], "my-dev", True),
        ("IMMUTABLE_WITH_EXCLUSION", ["a.b", "*-rc*"], "axb", True),
        ("IMMUTABLE_WITH_EXCLUSION", ["a.b", "*-rc*"], "1-rc2", False),
        ("MUTABLE_WITH_EXCLUSION", ["v*"], "v1", True),
        ("MUTABLE_WITH_EXCLUSION", ["v*"], "dev", False),
    ],
)
def test_exceptions_turn_mutability_round(kind: str, filters: list[str], tag: str, kept: bool) -> None:
    told = {
        "imageTagMutability": kind,
        "imageTagMutabilityExclusionFilters": [{"filterType": "WILDCARD", "filter": each} for each in filters],
    }
    assert immutable(told, tag) is kept
