"""AWS Batch in a rehearsal, as a user types it: the printed first job, arrays, nodes, logs, and files of the bucket."""

import re
import subprocess

from gpufleet.catalog import aws
from tests.e2e.rehearsed_project import REPOSITORY, Project

ENVIRONMENT = "aws-batch-dev"
COMMANDS = """
set -ex
export LOGNAME=ana COLUMNS=160
gpufleet jobs submit aws-batch-dev --name bad --tag rehearsal.gpufleet.dev/exit-code=3 --follow -- x || test $? = 3
gpufleet jobs submit aws-batch-dev --name sweep --grid lr=1,2,3 --follow -- x --lr {lr}
export LOGNAME=ben
gpufleet jobs submit aws-batch-dev --name both --tag project=thesis --nodes 2 --follow -- x
gpufleet jobs submit aws-batch-dev --name endless --tag rehearsal.gpufleet.dev/exit-code=none -- x
gpufleet jobs status aws-batch-dev endless
gpufleet ps --jobs all
gpufleet usage aws-batch-dev --by user
gpufleet usage aws-batch-dev --by project
gpufleet jobs cancel aws-batch-dev endless
gpufleet jobs list aws-batch-dev
gpufleet jobs logs aws-batch-dev bad
gpufleet jobs logs aws-batch-dev sweep:2
gpufleet jobs outputs list aws-batch-dev sweep
gpufleet jobs outputs get aws-batch-dev sweep there && grep -c rehearsed there/2/rehearsed.txt
"""


PRICE = aws().prices[("g5.8xlarge", "us-east-1", "on-demand")].usd_per_hour
PS = [
    "Jobs with GPUs",
    "cluster job user project GPUs up use activity",
    "aws-batch-dev aws-batch-dev-queue-queue-X/endless ben distributed-training 1 N min ? ?",
    "GPUs: now/at most; ~: when the stack was last updated; --contexts asks the clusters",
    "aws-batch-dev: no exporter is asked on batch, so GPU use is unknown",
]
# Each container ran for a minute. Of nodes that are gone it is not known which of two types they were; jobs of several
# nodes have one type. The job that runs has times of this machine: N is a figure that counts it.
NOTES = [
    "aws-batch-dev: N GPU-hours have no price and are in no sum (no pool); own servers get one by "
    "gpufleet:usd_per_gpu_hour",
    "aws-batch-dev: without --record this is what AWS Batch still knows, about a week",
    "Held GPUs only, at their part of the node's price: no idle nodes, no disks, no network.",
]
USERS = [
    "user jobs GPU-hours USD",
    "ana 2 0.07 unknown",
    "ben 2 N N",
    "cleo 1 0.02 unknown",
    "all 5 N N and more",
]
PROJECTS = [
    "project jobs GPU-hours USD",
    "distributed-training 4 N N and more",
    f"thesis 1 0.03 {2 * PRICE / 60:.2f}",
    "all 5 N N and more",
]


def shown(said: str, command: str) -> list[str]:
    """What a command of a shell with -x has printed, with one blank between words; no empty lines."""
    rest = said.partition(f"\n+ {command}\n")[2].partition("\n+ ")[0]
    lines = [" ".join(line.split()) for line in rest.splitlines()]
    counting = re.compile(r"(?:ben|distributed-training|all|aws-batch-dev:) ")
    lines = [re.sub(r"\d+\.\d\d", "N", line) if counting.match(line) else line for line in lines if line]
    lines = [re.sub(r"\b\d+ min ", "N min ", line) for line in lines]
    return [re.sub(r"queue-queue-\w+/", "queue-queue-X/", line) for line in lines]


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
    first = inside(project, f"export LOGNAME=cleo\n{first_job}").stdout
    for line in (rf"{ran} 1 node of aws-batch-dev-spot-environment-\w+", r"\S+: succeeded after 1 min"):
        assert re.search(rf"^{line}$", first, re.MULTILINE), (line, first)
    said = inside(project, COMMANDS).stdout
    for line in (
        r"bad: failed after 1 min: the container's exit code is 3",
        r"sweep: succeeded after 1 min: all 3 children",
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
    running = shown(said, "gpufleet ps --jobs all")
    assert running[running.index("Jobs with GPUs") :] == PS, running
    # Rows are sorted by GPU-hours, of which one is the machine's.
    for by, rows in (("user", USERS), ("project", PROJECTS)):
        lines = shown(said, f"gpufleet usage aws-batch-dev --by {by}")
        assert sorted(lines) == sorted([*rows, *NOTES]), lines
