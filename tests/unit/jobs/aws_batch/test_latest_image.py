"""Which image of a repository jobs run. ECR's answers are recorded ones: moto gives all images one digest and time."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gpufleet.jobs.aws_batch import latest_image
from gpufleet.jobs.aws_batch.latest_image import newest_images
from tests.tools.fake_account import Account
from tests.tools.fake_aws import HOST


def image(name: str, minute: int, *tags: str) -> dict[str, Any]:
    at = datetime(2026, 11, 21, 12, minute, tzinfo=UTC)
    return {"imageDigest": f"sha256:{64 * name}", "imagePushedAt": at, "imageTags": list(tags)}


def test_what_was_pushed_last_and_is_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    images = [
        image("a", 1, "v1"),
        image("b", 5, "v2", "latest"),
        image("c", 3, "v0"),
        # About b: its signature, and the index of what refers to it.
        image("d", 6, f"sha256-{64 * 'b'}.sig"),
        image("e", 7, f"sha256-{64 * 'b'}"),
    ]

    def answers(call: str, arguments: dict[str, Any]) -> Any:
        asked.append(arguments)
        return images if arguments["repositoryName"] == "dev/training" else []

    monkeypatch.setattr(latest_image, "AwsBatchClient", lambda region: Account(answers))
    urls = {"dev/training": f"{HOST}/dev/training", "empty": f"{HOST}/empty", "own": "r.invalid/own"}
    found = newest_images(urls)
    assert {name: str(each) for name, each in found.items()} == {
        "dev/training": f"{HOST}/dev/training:latest@sha256:{64 * 'b'}"
    }
    assert [each["registryId"] for each in asked] == ["123456789012", "123456789012"]
