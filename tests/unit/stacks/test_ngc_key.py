"""The key of NGC in a configuration: into the pull secret, never in plain text, and nothing of it shown."""

import json
from typing import Any

import pulumi
import pytest
from recorder import Secret, construct, refusal

from on_onprem import build
from settings import read

KEY = f"nvapi-{'a' * 64}"
CONFIG = {
    "gpufleet:cloud": "onprem",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:kubeconfig": "# lab\n"
    + json.dumps(
        {
            "clusters": [{"name": "lab", "cluster": {"server": "https://10.0.0.2:6443"}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
            "current-context": "lab",
            "users": [{"name": "admin", "user": {"token": "t"}}],
        }
    ),
    "gpufleet:nfs": "10.0.0.5:/export/shared",
    "gpufleet:pools": {"v100": {"gpu": "V100", "gpus": 4, "nodes": ["gpu-1"]}},
}


def program(key: str) -> Any:
    config = CONFIG | {"gpufleet:team": {"namespace": "vision", "ngc_key": key}}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    return lambda: build("lab", read(texts, "lab"))


@pytest.fixture
def encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_config_secret", lambda key: key == "gpufleet:team")


@pytest.mark.usefixtures("encrypted")
def test_key_is_in_the_namespaces_pull_secret() -> None:
    made = construct(program(KEY), preview=False)
    secret = made.one("kubernetes:core/v1:Secret").inputs
    assert secret["metadata"]["namespace"] == "vision"
    login = secret["stringData"][".dockerconfigjson"]
    assert isinstance(login, Secret)
    assert json.loads(login.value) == {"auths": {"nvcr.io": {"username": "$oauthtoken", "password": KEY}}}


def test_plain_text_is_refused_and_not_shown() -> None:
    (line,) = refusal(program("wrong key"), preview=True)
    assert line.endswith("[any-ngc-key-secret]")
    assert "wrong key" not in line


@pytest.mark.usefixtures("encrypted")
def test_a_key_that_looks_wrong_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", lambda message, *_, **__: said.append(message))
    construct(program("wrong key"), preview=True)
    (line,) = [each for each in said if each.endswith("[any-ngc-key-form]")]
    assert "wrong key" not in line
