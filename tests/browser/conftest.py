"""The documentation's site, built once for all tests: it takes a minute."""

from pathlib import Path

import pytest

from tools.website.build_site import build
from tools.website.reference import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "site"
    build(ROOT, folder)
    return folder
