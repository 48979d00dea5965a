"""The key of NGC in a configuration: into the pull secret, never in plain text, and nothing of it shown."""

import json

import pulumi
import pytest

from tests.components.recorder import Secret
from tests.unit.stacks.lab_environment import program

KEY = f"nvapi-{'a' * 64}"


def team(key: str) -> dict[str, str]:
    return {"namespace": "vision", "ngc_key": key}


@pytest.fixture
def encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_config_secret", lambda key: key == "gpufleet:team")


@pytest.mark.usefixtures("encrypted")
def test_key_is_in_the_namespaces_pull_secret() -> None:
    made = program.run(team=team(KEY))
    secret = made.one("kubernetes:core/v1:Secret").inputs
    assert secret["metadata"]["namespace"] == "vision"
    login = secret["stringData"][".dockerconfigjson"]
    assert isinstance(login, Secret)
    assert json.loads(login.value) == {"auths": {"nvcr.io": {"username": "$oauthtoken", "password": KEY}}}


def test_plain_text_is_refused_and_not_shown() -> None:
    (line,) = program.refusal(team=team("wrong key"))
    assert line.endswith("[any-ngc-key-secret]")
    assert "wrong key" not in line


@pytest.mark.usefixtures("encrypted")
def test_a_key_that_looks_wrong_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", lambda message, *_, **__: said.append(message))
    program.run(preview=True, team=team("wrong key"))
    (line,) = [each for each in said if each.endswith("[any-ngc-key-form]")]
    assert "wrong key" not in line
