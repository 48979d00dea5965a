"""The printed `first_job` of aws-prod, run as it stands inside its rehearsal, to the end of its job.

Those of aws-dev, azure-dev and onprem run in their own files, where these environments are up.
"""

from pathlib import Path

from tests.cluster.rehearsed_jobs import Rehearsed
from tests.e2e.rehearsed_project import copy_of_ours


def test_first_job_of_aws_prod_runs_as_printed(tmp_path: Path) -> None:
    lab = Rehearsed(copy_of_ours(tmp_path, control_plane=True), "aws-prod")
    try:
        lab.up()
        lab.run_first_job()
    finally:
        lab.project.home.control_plane.stop()
