"""The registry's login: where it comes from, what it is beside, and who can read it. AWS is moto, az is a script."""

import base64
import json
import stat
from pathlib import Path

import pytest
from moto import mock_aws

from gpufleet.errors import UserError
from gpufleet.images.registry_auth import cloud_login, login_file, user_logins, with_login

ECR = "123456789012.dkr.ecr.us-east-1.amazonaws.com"


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")


@pytest.mark.usefixtures("keys")
def test_ecr_login_is_made_with_the_clouds_credentials_and_gone_afterwards(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text(json.dumps({"auths": {"nvcr.io": {"auth": "bjpw"}}}))
    with mock_aws(), login_file(ECR, {"REGISTRY_AUTH_FILE": str(tmp_path / "auth.json")}) as file:
        assert file is not None
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        auths = json.loads(file.read_text())["auths"]
        assert base64.b64decode(auths[ECR]["auth"]).startswith(b"AWS:")
        assert auths["nvcr.io"] == {"auth": "bjpw"}, "base images may need the user's other logins"
    assert not file.parent.exists()


def test_ecr_without_credentials_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    with pytest.raises(UserError, match="AWS credentials: Unable to locate credentials; set AWS_PROFILE"):
        cloud_login(ECR)


def az(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the Azure CLI."""
    (folder / "az").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "az").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_acr_login_comes_from_the_azure_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    az(tmp_path, 'echo "$@" > "$(dirname "$0")/asked"; echo \'{"accessToken": "t0ken"}\'', monkeypatch)
    entry = cloud_login("team.azurecr.io")
    assert base64.b64decode(str(entry)) == b"00000000-0000-0000-0000-000000000000:t0ken"
    assert (tmp_path / "asked").read_text() == "acr login --name team --expose-token --output json\n"


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("echo 'Please run az login' >&2; exit 1", "team: az acr login: Please run az login; sign in with `az login`"),
        ("echo nothing", "team: az acr login gave no accessToken; update the Azure CLI"),
        ("echo '{}'", "team: az acr login gave no accessToken; update the Azure CLI"),
    ],
)
def test_azure_cli_that_gives_no_login_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, line: str
) -> None:
    az(tmp_path, script, monkeypatch)
    with pytest.raises(UserError) as error:
        cloud_login("team.azurecr.io")
    assert str(error.value).startswith(line)


def test_azure_cli_that_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="team: its login comes from the Azure CLI, az, which is not on PATH"):
        cloud_login("team.azurecr.io")


@pytest.mark.parametrize(
    "host", ["127.0.0.1:5000", "ghcr.io", "public.ecr.aws", "x.dkr.ecr.us-east-1.amazonaws.com.evil.io"]
)
def test_other_registries_are_left_to_the_users_own_login(host: str) -> None:
    assert cloud_login(host) is None
    with login_file(host) as file:
        assert file is None


def test_new_login_wins_over_the_users_and_over_a_helper() -> None:
    users = {"auths": {"r": {"auth": "old"}, "q": {}}, "credHelpers": {"r": "ecr-login", "q": "pass"}}
    assert with_login(users, "r", "new") == {
        "auths": {"r": {"auth": "new"}, "q": {}},
        "credHelpers": {"q": "pass"},
    }
    assert users["auths"]["r"] == {"auth": "old"}


def test_users_files_are_read_in_the_builders_order(tmp_path: Path) -> None:
    def write(name: str, content: object) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))

    write("home/.docker/config.json", {"auths": {"a": 1, "b": 1, "c": 1}, "credsStore": "desktop"})
    write("home/.config/containers/auth.json", {"auths": {"a": 2, "b": 2}})
    write("run/containers/auth.json", {"auths": {"a": 3}, "credHelpers": {"h": "x"}})
    environment = {"HOME": str(tmp_path / "home"), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    assert user_logins(environment) == {"auths": {"a": 3, "b": 2, "c": 1}, "credHelpers": {"h": "x"}}
    write("chosen", {"auths": {"z": 1}})
    assert user_logins(environment | {"REGISTRY_AUTH_FILE": str(tmp_path / "chosen")})["auths"] == {"z": 1}
    (tmp_path / "chosen").write_text("{")
    assert user_logins({"REGISTRY_AUTH_FILE": str(tmp_path / "chosen")}) == {"auths": {}, "credHelpers": {}}
