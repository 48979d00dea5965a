"""The guide's commands on Azure Batch and its storage account, word for word in a rehearsal."""

import re
import subprocess

from tests.e2e.rehearsed_project import REPOSITORY, Project
from tests.tools.guide_commands import guide_commands

ENVIRONMENT = "azure-dev"
IMAGE = r"azuredevregistry\w+\.azurecr\.rehearsal\.invalid/training@sha256:\w{64}"
CHANGED = r"spot: a `pulumi up` that changes the pool makes it what the configuration says"
SUBMIT = "gpufleet jobs submit azure-dev --on azure-batch"
EXPECTED = {
    f"{SUBMIT} --follow --script train.py -- python3 train.py": [
        rf"rehearsed: no container ran; {IMAGE} on 1 node of azure-dev-spot-pool",
        r"\S+: succeeded after 1 min",
    ],
    f"{SUBMIT} --nodes 2 --retries 10 --follow -- python3 train.py": [
        rf"rehearsed: no container ran; {IMAGE} on 2 nodes of azure-dev-spot-pool",
        r"\S+: succeeded after 1 min",
    ],
    "gpufleet pool resize azure-dev spot 0": ["spot: 0 nodes", CHANGED],
    "gpufleet pool autoscale azure-dev spot --min 0 --max 10": [
        r"spot: a formula sets 0 to 10 nodes, every 5 minutes; now it says 0",
        r"spot: 10 of Standard_NC4as_T4_v3 cost up to [\d.]+ USD an hour \(list price; Spot is cheaper\)",
        CHANGED,
    ],
    "gpufleet data put azure-dev train.py scripts/train.py": [
        r"scripts/train.py: 15 bytes, 15 bytes sent",
        r"1 files, 15 bytes sent, checksums right",
    ],
    "gpufleet data get azure-dev result/jobs/run-1 ./run-1": [
        r"result/jobs/run-1/stdout\.txt: (\d+) bytes, \1 bytes sent",
        r"2 files, \d+ bytes sent, checksums right",
    ],
    # What a share holds is not played: the rehearsal says so.
    "gpufleet data list azure-dev logs": [
        r"Error: azure-dev: the storage account \w+ is a rehearsal's; a rehearsal plays its containers, and no file "
        r"shares"
    ],
}
"""What the last lines of each command match."""


PS = [
    "Jobs with GPUs",
    "cluster job user project GPUs up use activity",
    "azure-dev azuredevbatchX/endless ben thesis 1 N min ? ?",
    "GPUs: now/at most; ~: when the stack was last updated; --contexts asks the clusters",
    "azure-dev: no exporter is asked on azure-batch, so GPU use is unknown",
]
# Each task ran for a minute, the endless one for N: this machine's time. The catalog has no prices of Spot on Azure.
NOTES = [
    "azure-dev: N GPU-hours have no price and are in no sum (spot); own servers get one by gpufleet:usd_per_gpu_hour",
    "azure-dev: without --record this is what Azure Batch still knows: jobs of 30 days that nobody has deleted",
    "Held GPUs only, at their part of the node's price: no idle nodes, no disks, no network.",
]
USERS = [
    "user jobs GPU-hours USD",
    "ana 2 0.03 unknown",
    "ben 1 N unknown",
    "cleo 2 0.05 unknown",
    "all 5 N unknown",
]
PROJECTS = [
    "project jobs GPU-hours USD",
    "distributed-training 4 0.08 unknown",
    "thesis 1 N unknown",
    "all 5 N unknown",
]


def inside(project: Project, script: str) -> subprocess.CompletedProcess[str]:
    """What a user types in the rehearsal."""
    script = f"exec 2>&1\nexport COLUMNS=160 LOGNAME=cleo\n{script}"
    return project.rehearse("--", "bash", "-ec", script, environment=ENVIRONMENT)


def shown(project: Project, command: str) -> list[str]:
    """What a command prints, with one blank between words; no empty lines."""
    done = inside(project, command)
    assert done.returncode == 0, done.stdout
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    counting = re.compile(r"(?:ben|thesis|all|azure-dev:) ")
    lines = [re.sub(r"\d+\.\d\d", "N", line) if counting.match(line) else line for line in lines if line]
    lines = [re.sub(r"\b\d+ min ", "N min ", line) for line in lines]
    return [re.sub(r"azuredevbatch\w+/", "azuredevbatchX/", line) for line in lines]


def test_guide_of_jobs(project: Project) -> None:
    project.configure(lambda config: config["files"].update(shares=["logs"]), ENVIRONMENT)
    up = project.rehearse(environment=ENVIRONMENT)
    assert up.returncode == 0, up.stdout + up.stderr
    (project.folder / "examples").symlink_to(REPOSITORY / "examples")
    (project.folder / "train.py").write_text("print('hello')\n")
    # Without a control plane, the image cannot be recorded on the cluster beside Azure Batch: the newest tag counts.
    inside(project, "gpufleet images build azure-dev examples/train")
    mark = "--tag rehearsal.gpufleet.dev/exit-code"
    ana = f"LOGNAME=ana {SUBMIT} --wait --name run-1 -- x\nLOGNAME=ana {SUBMIT} --name bad {mark}=3 --wait -- x"
    assert inside(project, ana).returncode == 3
    found = [each for each in guide_commands("jobs") if f" {ENVIRONMENT}" in each]
    assert found == list(EXPECTED)
    for command, lines in EXPECTED.items():
        done = inside(project, command)
        said = done.stdout.splitlines()
        for line, shown_line in zip(lines, said[-len(lines) :], strict=True):
            assert re.fullmatch(line, shown_line), (command, line, said)
        assert done.returncode == (1 if lines[0].startswith("Error: ") else 0), (command, said)
    # And who holds GPUs on it, and held.
    endless = f"LOGNAME=ben {SUBMIT} --name endless --tag project=thesis {mark}=none -- x"
    assert inside(project, f"{endless}\ngpufleet jobs status azure-dev endless --on azure-batch").returncode == 0
    running = shown(project, "gpufleet ps --jobs all")
    assert running[running.index("Jobs with GPUs") :] == PS, running
    for by, rows in (("user", USERS), ("project", PROJECTS)):
        lines = shown(project, f"gpufleet usage azure-dev --on azure-batch --by {by}")
        assert sorted(lines) == sorted([*rows, *NOTES]), lines
