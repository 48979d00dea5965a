"""How the engine gets into .venv/bin."""

import os
from pathlib import Path

import pytest

from tools.pulumi.links import link_engine, link_plugins

PYTHON = Path("/environment/bin/python")
NAMES = ["pulumi", "pulumi-language-python", "pulumi-language-python-exec"]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """What the build leaves in the cache: no language host."""
    (tmp_path / "built").mkdir()
    for name in ("pulumi", "pulumi-language-python-exec"):
        (tmp_path / "built" / name).write_text(name)
        (tmp_path / "built" / name).chmod(0o755)
    return tmp_path / "built"


@pytest.fixture
def bin_directory(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def link(engine: Path | None, bin_directory: Path) -> list[str]:
    said: list[str] = []
    link_engine(engine, bin_directory, PYTHON, said.append)
    return said


def test_links_are_hard_and_made_once(built: Path, bin_directory: Path) -> None:
    assert len(link(built, bin_directory)) == 1
    assert sorted(file.name for file in bin_directory.iterdir()) == NAMES
    assert (bin_directory / "pulumi").samefile(built / "pulumi")
    assert not (bin_directory / "pulumi").is_symlink()
    assert link(built, bin_directory) == []


def test_links_are_copies_across_file_systems(
    built: Path, bin_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    assert len(link(built, bin_directory)) == 1
    assert (bin_directory / "pulumi").read_text() == "pulumi"
    assert not (bin_directory / "pulumi").samefile(built / "pulumi")
    assert link(built, bin_directory) == []


def test_links_follow_another_engine(built: Path, bin_directory: Path, tmp_path: Path) -> None:
    link(built, bin_directory)
    built.rename(tmp_path / "older")
    built.mkdir()
    (built / "pulumi").write_text("a newer engine")
    assert len(link(built, bin_directory)) == 1
    assert (bin_directory / "pulumi").read_text() == "a newer engine"


def test_links_keep_the_language_host_that_an_installed_engine_brings(built: Path, bin_directory: Path) -> None:
    (built / "pulumi-language-python").write_text("Pulumi's own")
    link(built, bin_directory)
    assert (bin_directory / "pulumi-language-python").read_text() == "Pulumi's own"


def test_links_start_our_host_with_the_environments_python(built: Path, bin_directory: Path) -> None:
    link(built, bin_directory)
    script = (bin_directory / "pulumi-language-python").read_text()
    assert script.startswith(f'#!/bin/sh\nexec "{PYTHON}" ')
    assert os.access(bin_directory / "pulumi-language-python", os.X_OK)


def test_links_are_taken_away_when_path_has_an_engine(built: Path, bin_directory: Path) -> None:
    link(built, bin_directory)
    (bin_directory / "other").touch()
    link(None, bin_directory)
    assert [file.name for file in bin_directory.iterdir()] == ["other"]


def test_plugin_without_an_environment_gets_the_checkouts(tmp_path: Path) -> None:
    environment, said = tmp_path / ".venv", []
    environment.mkdir()
    for name in ("bare", "own", "stale"):
        (tmp_path / "packages" / name).mkdir(parents=True)
        (tmp_path / "packages" / name / "PulumiPlugin.yaml").write_text("runtime: python\n")
    (tmp_path / "packages" / "own" / "venv").mkdir()
    (tmp_path / "packages" / "stale" / "venv").symlink_to(tmp_path / "gone")
    link_plugins(tmp_path / "packages", environment, said.append)
    assert len(said) == 2
    for name in ("bare", "stale"):
        assert (tmp_path / "packages" / name / "venv").resolve() == environment
    assert not (tmp_path / "packages" / "own" / "venv").is_symlink()
    link_plugins(tmp_path / "packages", environment, said.append)
    assert len(said) == 2
