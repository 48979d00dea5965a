"""How the engine gets into .venv/bin, and the checkout's packages into the plugins' environments."""

import os
import subprocess
import sys
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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """An environment with one package, `ours`."""
    make_environment(tmp_path / ".venv")
    (site,) = (tmp_path / ".venv").glob("lib/python3*/site-packages")
    (site / "ours.py").write_text("")
    return tmp_path / ".venv"


def make_environment(place: Path) -> None:
    """As Pulumi's own language host does it, but without pip, which takes seconds."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True, capture_output=True)


def has_ours(environment: Path) -> bool:
    return subprocess.run([environment / "bin" / "python", "-c", "import ours"], check=False).returncode == 0


def plugin(packages: Path, name: str) -> Path:
    """Where the environment of a plugin lies."""
    (packages / name).mkdir(parents=True)
    (packages / name / "PulumiPlugin.yaml").write_text("runtime: python\n")
    return packages / name / "venv"


def test_plugin_without_an_environment_gets_one_with_the_checkouts_packages(tmp_path: Path, checkout: Path) -> None:
    packages, said = tmp_path / "packages", list[str]()
    bare, own, linked = (plugin(packages, name) for name in ("bare", "own", "linked"))
    own.mkdir()
    linked.symlink_to(checkout)
    link_plugins(packages, checkout, said.append)
    assert len(said) == 2
    assert has_ours(bare)
    assert has_ours(linked)
    assert not linked.is_symlink()
    assert list(own.iterdir()) == []
    link_plugins(packages, checkout, said.append)
    assert len(said) == 2


def test_pulumis_host_can_make_its_environment_where_set_up_made_one(tmp_path: Path, checkout: Path) -> None:
    """`pulumi package add` does: https://github.com/pulumi/pulumi, sdk/python/toolchain/pip.go, InstallDependencies."""
    environment = plugin(tmp_path / "packages", "bare")
    link_plugins(tmp_path / "packages", checkout, lambda _: None)
    make_environment(environment)
    assert has_ours(environment)
    linked = tmp_path / "link"
    linked.symlink_to(checkout)
    with pytest.raises(subprocess.CalledProcessError):
        make_environment(linked)


def test_plugins_environment_is_made_anew_when_the_checkouts_has_moved(tmp_path: Path, checkout: Path) -> None:
    environment, said = plugin(tmp_path / "packages", "bare"), list[str]()
    link_plugins(tmp_path / "packages", checkout, said.append)
    moved = checkout.rename(tmp_path / "moved")
    link_plugins(tmp_path / "packages", moved, said.append)
    assert len(said) == 2
    assert has_ours(environment)
