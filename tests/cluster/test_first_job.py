"""The printed `first_job`, run as it stands inside the rehearsal of an environment, to the end of its job."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.rehearsed_jobs import Rehearsed
from tests.e2e.rehearsed_project import REPOSITORY, copy_of_ours


@pytest.fixture(params=["aws-prod", "azure-dev", "onprem"])
def up(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rehearsed]:
    made = Rehearsed(copy_of_ours(tmp_path, control_plane=True), str(request.param))
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    yield made
    made.project.home.control_plane.stop()


def test_first_job_runs_as_printed(up: Rehearsed) -> None:
    up.up()
    # What `pulumi stack output first_job` prints: `up` itself cuts a long one off.
    first_job = str(up.project.home.engine().outputs(up.environment)["first_job"])
    _, said, code = up.inside("sh", "-c", first_job)
    assert code == 0, said
    assert re.search(r"^train-\S+: succeeded after", said, re.MULTILINE), said
