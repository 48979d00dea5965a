"""Fixtures of the tests on the real engine."""

from pathlib import Path

import pytest

from tests.e2e.rehearsed_project import Project, copy_of_ours


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Our project, to change and to rehearse."""
    folder = tmp_path / "project"
    folder.mkdir()
    return copy_of_ours(folder)


@pytest.fixture
def erasing(project: Project) -> Project:
    """The same, told to erase the data on destroy: then a destroy must leave nothing at all."""
    project.configure(lambda config: config.update(erase=True))
    return project
