"""What the tests of set-up and of the language host share."""

from pathlib import Path

import pytest

from trial_project import Project, clean_environment


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project with the stack `dev` selected."""
    (tmp_path / "state").mkdir()
    made = Project(tmp_path / "project", clean_environment(tmp_path))
    made.directory.mkdir()
    made.write("import pulumi\n")
    done = made.pulumi("stack", "init", "dev")
    assert done.returncode == 0, done.stdout
    return made
