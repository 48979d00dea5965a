"""Azure Batch in a rehearsal, as a user types it: the printed first job, pools, and files of the storage account."""

import re
import subprocess

from tests.e2e.rehearsed_project import REPOSITORY, Project

ENVIRONMENT = "azure-prod"
COMMANDS = """
set -ex
gpufleet jobs submit azure-prod --image training:1 --nodes 2 --dry-run -- python3 train.py | grep numberOfInstances
gpufleet jobs submit azure-prod --image training:1 --name bad --tag rehearsal.gpufleet.dev/exit-code=3 --follow -- x \
    || test $? = 3
gpufleet jobs list azure-prod
gpufleet jobs logs azure-prod bad
gpufleet jobs outputs list azure-prod bad
gpufleet pool resize azure-prod trainers 2
gpufleet pool autoscale azure-prod trainers --min 0 --max 16
gpufleet data put azure-prod train.py scripts/mine/train.py
gpufleet data list azure-prod scripts/mine
gpufleet data get azure-prod scripts/mine there && cmp train.py there/train.py
"""


def inside(project: Project, script: str) -> subprocess.CompletedProcess[str]:
    """A shell within the rehearsal. Its parts are told apart by the commands that -x prints."""
    done = project.rehearse("--", "bash", "-c", f"exec 2>&1\n{script}", environment=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_jobs_pools_and_files(project: Project) -> None:
    up = project.rehearse(environment=ENVIRONMENT)
    assert up.returncode == 0, up.stdout + up.stderr
    # What `pulumi stack output first_job` prints: `up` itself cuts a long one off.
    first_job = str(project.home.engine().outputs(ENVIRONMENT)["first_job"])
    (project.folder / "examples").symlink_to(REPOSITORY / "examples")
    (project.folder / "train.py").write_text("print('hello')\n")
    first = inside(project, first_job).stdout
    assert re.search(
        r"^rehearsed: no container ran; azureprodregistry\w+\.azurecr\.rehearsal\.invalid/training@sha256:\w{64} on 2 "
        r"nodes of azure-prod-trainers-pool$",
        first,
        re.MULTILINE,
    ), first
    assert re.search(r"^\S+: succeeded after", first, re.MULTILINE), first
    said = inside(project, COMMANDS).stdout
    for line in (
        r"bad: failed after \S+ \S+: the task's exit code is 3",
        r"bad +failed +1 node .*",
        r"\S+ +succeeded +2 nodes .*",
        r" +\d+  \S+  stdout.txt",
        r"trainers: its formula is off",
        r"trainers: 0 nodes, 2 wanted",
        r"trainers: 2 nodes",
        r"trainers: a formula sets 0 to 16 nodes, every 5 minutes; now it says \d",
        r"scripts/mine/train.py: 15 bytes, 15 bytes sent",
        r" +15  \S+  scripts/mine/train.py",
    ):
        assert re.search(rf"^{line}$", said, re.MULTILINE), (line, said)
