"""Set-up as a user runs it, and when it installs."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.tools.trial_project import ROOT
from tools import environment


def set_up(**env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.setup"]
    outer = {**os.environ, **env}
    return subprocess.run(command, cwd=ROOT, env=outer, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_second_set_up_only_looks() -> None:
    done = set_up(GPUFLEET_PULUMI=os.environ.get("GPUFLEET_PULUMI", "path,build"))
    assert done.returncode == 0, done.stderr
    lines = [line.split("] ", 1)[1] for line in done.stdout.splitlines()]
    assert [line for line in lines if "from PATH" not in line] == ["ready"]


def test_set_up_without_any_engine_is_one_line(tmp_path: Path) -> None:
    done = set_up(PATH=str(tmp_path), XDG_CACHE_HOME=str(tmp_path), GPUFLEET_PULUMI="path,build")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("setup: no Pulumi engine: no `pulumi` on PATH; it cannot be built: no `go` on PATH.")
    assert "then run `make setup` again" in done.stderr


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that set-up runs in a checkout of its own, where nothing is really installed."""
    made: list[list[str]] = []

    def run(command: list[str], doing: str, env: Mapping[str, str]) -> None:
        made.append(command)

    (tmp_path / ".venv").mkdir()
    (tmp_path / "requirements.lock").write_text("a==1\n")
    (tmp_path / "requirements-uv.lock").write_text("uv==1\n")
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "LOCK", tmp_path / "requirements.lock")
    monkeypatch.setattr(environment, "UV_LOCK", tmp_path / "requirements-uv.lock")
    monkeypatch.setattr(environment, "_run", run)
    monkeypatch.setattr(environment, "install_uv", lambda say, env: True)
    return made


def silent(line: str) -> None:
    """Stands in for the function that tells the user."""


def test_lock_is_installed_once_with_hashes_and_bytecode(runs: list[list[str]]) -> None:
    environment.install_lock(silent)
    environment.install_lock(silent)
    assert len(runs) == 1
    assert {"--require-hashes", "--compile-bytecode", str(environment.LOCK)} <= set(runs[0])


@pytest.mark.slow
def test_lock_that_changed_is_installed_again(runs: list[list[str]]) -> None:
    environment.install_lock(silent)
    environment.LOCK.write_text("a==2\n")
    environment.install_lock(silent)
    assert len(runs) == 2


@pytest.mark.slow
def test_lock_falls_back_to_pip_where_uv_cannot_be_had(runs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "install_uv", lambda say, env: False)
    environment.install_lock(silent)
    assert runs == [[*environment.PIP, "install", "--quiet", "--require-hashes", "-r", str(environment.LOCK)]]


@pytest.mark.slow
def test_lock_falls_back_to_pip_where_uv_fails(runs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_uv(command: list[str], doing: str, env: Mapping[str, str]) -> None:
        runs.append(command)
        if command[0] == str(environment.UV):
            raise environment.SetupFailed("certificate unknown")

    said: list[str] = []
    monkeypatch.setattr(environment, "_run", fail_uv)
    environment.install_lock(said.append)
    assert [command[0] for command in runs] == [str(environment.UV), str(environment.PYTHON)]
    assert "packages: uv: certificate unknown" in said


@pytest.mark.slow
def test_lock_whose_installation_failed_is_tried_again(runs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(command: list[str], doing: str, env: Mapping[str, str]) -> None:
        raise environment.SetupFailed(f"{doing} failed")

    environment.install_lock(silent)
    environment.LOCK.write_text("a==2\n")
    with monkeypatch.context() as broken:
        broken.setattr(environment, "_run", fail)
        with pytest.raises(environment.SetupFailed, match="installing the lock failed"):
            environment.install_lock(silent)
    environment.install_lock(silent)
    assert len(runs) == 2


def test_uv_is_told_what_pip_knows_about_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS", "UV_INSECURE_HOST", "SSL_CERT_FILE")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv("PIP_CERT", "/certificates.pem")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path} /not/there")
    monkeypatch.setenv("UV_INSECURE_HOST", "chosen.example")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "other.example")
    env = environment.installer_environment()
    assert [env.get(name) for name in names] == [
        "https://index.example/simple",
        None,
        str(tmp_path),
        "chosen.example",
        "/certificates.pem",
    ]


def test_locks_name_no_address_and_hash_every_package() -> None:
    for lock in (environment.LOCK, environment.UV_LOCK):
        text = lock.read_text()
        assert "://" not in text
        packages = [line for line in text.splitlines() if line and line[0].isalnum()]
        assert packages
        assert all(line.endswith("\\") for line in packages)
