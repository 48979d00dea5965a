"""Secrets of a configuration are encrypted: in plain text each is refused, by its key or by its look, and not shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpufleet.config.plain_text import PlainText
from gpufleet.config.reader import ConfigError, read_config
from gpufleet.config.stacks import KINDS
from gpufleet.typed_dicts import fields_of, is_record, record_in
from tests.unit.config.test_reader import LEGAL
from tests.unit.secret_examples import CERTAIN

HIDDEN = "hunter22"
SECRETS = (
    "team.docker_config", "team.ngc_key", "teams.vision.docker_config", "teams.vision.ngc_key",
    "notebooks.oidc.client_secret", "notebooks.dummy_password", "notebooks.proxy_token", "notebooks.cookie_secret",
)  # fmt: skip


def nested(path: str, value: object) -> tuple[str, Any]:
    key, *rest = path.split(".")
    for name in reversed(rest):
        value = {name: value}
    return f"gpufleet:{key}", value


def faults(plain: PlainText | None = None, **changes: object) -> list[str]:
    config = LEGAL | {f"gpufleet:{key}": json.dumps(value) for key, value in changes.items()}
    try:
        read_config(config, "dev", plain)
    except ConfigError as error:
        return str(error).splitlines()
    return []


def declared_secrets(declared: type, path: str = "") -> set[str]:
    found = set()
    for name, field in fields_of(declared).items():
        record = record_in(field.shape)
        below = f"{path}{name}." if record and is_record(field.shape) else f"{path}{name}.vision."
        found |= declared_secrets(record, below) if record else set()
        found |= {f"{path}{name}"} if field.encrypted else set()
    return found


def test_these_keys_are_secrets() -> None:
    assert declared_secrets(KINDS["aws"].config) == set(SECRETS)


@pytest.mark.parametrize("path", SECRETS)
def test_secret_in_plain_text_is_refused_with_the_command(path: str) -> None:
    key, value = nested(path, HIDDEN)
    line = (
        f"Pulumi.dev.yaml: gpufleet:{path}: is stored in plain text; change it, as others may have read it, and "
        f"store it by `pulumi config set -s dev --secret --path 'gpufleet:{path}'` [config-secret]"
    )
    said = faults(**{key.partition(":")[2]: value})
    assert line in said
    assert HIDDEN not in "".join(said)
    assert line not in faults(PlainText([key]), **{key.partition(":")[2]: value})


@pytest.mark.parametrize("name", CERTAIN)
def test_what_looks_like_a_secret_is_refused_anywhere(name: str) -> None:
    said = faults(tags={"note": CERTAIN[name]})
    assert said == [
        f"Pulumi.dev.yaml: gpufleet:tags.note: looks like a secret in plain text ({name}); change it, as others may "
        "have read it, and store it by `pulumi config set -s dev --secret --path 'gpufleet:tags.note'` [config-secret]"
    ]


def test_beside_an_encrypted_value_the_file_tells_which_are_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: x\nmain: stacks\nstackConfigDir: config\n")
    (tmp_path / "config" / "Pulumi.dev.yaml").write_text(
        "config:\n  gpufleet:team:\n    ngc_key: hunter22\n    docker_config: {secure: v1:abc}\n"
    )
    monkeypatch.chdir(tmp_path / "stacks")
    monkeypatch.setenv("PULUMI_CONFIG_SECRET_KEYS", '["gpufleet:team"]')
    [line] = faults(PlainText.of_engine("dev"), team={"ngc_key": HIDDEN, "docker_config": "{}"})
    assert line.startswith("Pulumi.dev.yaml: gpufleet:team.ngc_key: is stored in plain text; ")
    monkeypatch.chdir("/")
    assert faults(PlainText.of_engine("dev"), team={"ngc_key": HIDDEN, "docker_config": "{}"}) == []
