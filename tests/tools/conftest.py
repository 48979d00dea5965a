"""What the tests of set-up and of the language host share."""

from pathlib import Path

import pytest

from tests.tools.trial_project import Project, clean_environment, engine_with_our_host


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return engine_with_our_host(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def project(tmp_path: Path, engine: Path) -> Project:
    """An empty project with the stack `dev` selected."""
    (tmp_path / "state").mkdir()
    made = Project(tmp_path / "project", clean_environment(engine, tmp_path))
    made.directory.mkdir()
    made.write("import pulumi\n")
    done = made.pulumi("stack", "init", "dev")
    assert done.returncode == 0, done.stdout
    return made
