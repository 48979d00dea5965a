"""The key of NGC in a configuration: into the pull secret, and nothing of it shown."""

import json

import pytest

from tests.components.recorder import Secret
from tests.unit.stacks import stack_programs
from tests.unit.stacks.lab_environment import program

KEY = f"nvapi-{'a' * 64}"


def team(key: str) -> dict[str, str]:
    return {"namespace": "vision", "ngc_key": key}


def test_key_is_in_the_namespaces_pull_secret() -> None:
    made = program.run(team=team(KEY))
    secret = made.one("kubernetes:core/v1:Secret").inputs
    assert secret["metadata"]["namespace"] == "vision"
    login = secret["stringData"][".dockerconfigjson"]
    assert isinstance(login, Secret)
    assert json.loads(login.value) == {"auths": {"nvcr.io": {"username": "$oauthtoken", "password": KEY}}}


def test_plain_text_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_programs, "ENCRYPTED", [])
    (line,) = program.refusal(team=team("wrong key"))
    assert line.endswith("[config-secret]")
    assert "wrong key" not in line


def test_a_key_that_looks_wrong_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", lambda message, *_, **__: said.append(message))
    program.run(preview=True, team=team("wrong key"))
    (line,) = [each for each in said if each.endswith("[any-ngc-key-form]")]
    assert "wrong key" not in line
