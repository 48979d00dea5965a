"""What a package knows about its repository: links, project URLs, and how to install more of it."""

import json
import os
import subprocess
import sys
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from gpufleet import extras, repository
from tools.package_metadata import with_absolute_links

ROOT = Path(__file__).parents[2]
ADDRESS = "https://code.example/team/gpufleet"


def metadata(**env: str) -> dict[str, Any]:
    """As hatchling gives it to a build."""
    outer = {key: value for key, value in os.environ.items() if key != "GPUFLEET_REPOSITORY"}
    command = [sys.executable, "-m", "hatchling", "metadata"]
    done = subprocess.run(command, cwd=ROOT, env=outer | env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_published_package_links_to_its_repository_at_its_tag() -> None:
    made = metadata(GPUFLEET_REPOSITORY=f"{ADDRESS}/")
    tag = f"v{made['version']}"
    assert made["urls"]["Repository"] == ADDRESS
    assert made["urls"]["Changelog"] == f"{ADDRESS}/blob/{tag}/CHANGELOG.md"
    text = made["readme"]["text"]
    assert (
        "![Network, cluster, zones, pools and data stores of aws-dev; the pool of trainers is replaced]("
        f"{ADDRESS}/raw/{tag}/docs/" in text
    )
    assert f"({ADDRESS}/blob/{tag}/docs/rules.md)" in text
    assert "](docs/" not in text
    for url in made["urls"].values():
        inside = url.removeprefix(f"{ADDRESS}/blob/{tag}/")
        assert inside == url or (ROOT / inside).is_file()


def test_package_built_without_an_address_invents_none() -> None:
    made = metadata()
    assert "urls" not in made
    assert made["readme"]["text"] == (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("[a](docs/a.md#b)", f"[a]({ADDRESS}/blob/v1/docs/a.md#b)"),
        ("![a](a.svg)", f"![a]({ADDRESS}/raw/v1/a.svg)"),
        ("[a](#b) [c](https://d.example/e) [f](mailto:g)", "[a](#b) [c](https://d.example/e) [f](mailto:g)"),
    ],
)
def test_relative_links_alone_are_changed(given: str, made: str) -> None:
    assert with_absolute_links(given, ADDRESS, "v1") == made


def installed(monkeypatch: pytest.MonkeyPatch, *urls: str) -> None:
    """As a wheel with these project URLs."""
    known = Message()
    for url in urls:
        known["Project-URL"] = url
    monkeypatch.setattr("importlib.metadata.metadata", lambda _: known)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.2.3")
    monkeypatch.setattr(extras, "is_checkout", lambda: False)


def test_hint_of_a_wheel_names_its_repository_at_its_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, f"Issues, {ADDRESS}/issues", f"Repository, {ADDRESS}")
    assert repository.repository() == ADDRESS
    assert extras.install_hint("jobs") == f'run `pip install "gpufleet[jobs] @ git+{ADDRESS}@v1.2.3"`'


def test_hint_of_a_wheel_that_knows_no_repository_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    assert repository.repository() is None
    assert extras.install_hint("jobs") == (
        'run `pip install "gpufleet[jobs] @ git+https://YOUR-HOST/gpufleet@v1.2.3"`, with your repository\'s address'
    )


def test_hint_of_a_checkout_is_a_folder() -> None:
    assert extras.install_hint("jobs") == "run `pip install '.[jobs]'` in your checkout of gpufleet"
