"""AWS Batch in a rehearsal, as a user types it: the printed first job, arrays, nodes, logs, and files of the bucket."""

import re
import subprocess

from tests.e2e.rehearsed_project import REPOSITORY, Project

ENVIRONMENT = "aws-batch-dev"
COMMANDS = """
set -ex
gpufleet jobs submit aws-batch-dev --name bad --tag rehearsal.gpufleet.dev/exit-code=3 --follow -- x || test $? = 3
gpufleet jobs submit aws-batch-dev --name sweep --grid lr=1,2,3 --follow -- x --lr {lr}
gpufleet jobs submit aws-batch-dev --name both --nodes 2 --follow -- x
gpufleet jobs submit aws-batch-dev --name endless --tag rehearsal.gpufleet.dev/exit-code=none -- x
gpufleet jobs status aws-batch-dev endless
gpufleet jobs cancel aws-batch-dev endless
gpufleet jobs list aws-batch-dev
gpufleet jobs logs aws-batch-dev bad
gpufleet jobs logs aws-batch-dev sweep:2
gpufleet jobs outputs list aws-batch-dev sweep
gpufleet jobs outputs get aws-batch-dev sweep there && grep -c rehearsed there/2/rehearsed.txt
"""


def inside(project: Project, script: str) -> subprocess.CompletedProcess[str]:
    """A shell within the rehearsal. Its parts are told apart by the commands that -x prints."""
    done = project.rehearse("--", "bash", "-c", f"exec 2>&1\n{script}", environment=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_jobs_and_outputs(project: Project) -> None:
    up = project.rehearse(environment=ENVIRONMENT)
    assert up.returncode == 0, up.stdout + up.stderr
    first_job = str(project.home.engine().outputs(ENVIRONMENT)["first_job"])
    (project.folder / "examples").symlink_to(REPOSITORY / "examples")
    image = r"000000000000\.dkr\.ecr\.us-east-1\.rehearsal\.invalid/aws-batch-dev/training@sha256:\w{64}"
    ran = rf"rehearsed: no container ran; {image} on"
    first = inside(project, first_job).stdout
    for line in (rf"{ran} 1 node of aws-batch-dev-ondemand-environment-\w+", r"\S+: succeeded after 0 s"):
        assert re.search(rf"^{line}$", first, re.MULTILINE), (line, first)
    said = inside(project, COMMANDS).stdout
    for line in (
        r"bad: failed after 0 s: the container's exit code is 3",
        r"sweep: succeeded after 0 s: all 3 children",
        rf"{ran} 2 nodes of aws-batch-dev-ondemand-environment-\w+",
        r"endless: RUNNING.*",
        r"endless: cancelled; its log and its outputs stay",
        r"endless +FAILED +1 node .*",
        r"both +SUCCEEDED +2 nodes .*",
        r"sweep +SUCCEEDED +3 children .*",
        r"bad +FAILED +1 node .*",
        r"train-\S+ +SUCCEEDED +1 node .*",
        r" +\d+  \S+  2/rehearsed.txt",
        r" +9  \S+  parameters.csv",
        r"4 files in there, \d+ bytes fetched, sizes right",
        r"1",
    ):
        assert re.search(rf"^{line}$", said, re.MULTILINE), (line, said)
