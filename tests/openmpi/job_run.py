"""Run an MPIJob's manifest with real OpenMPI and sshd: its workers and its launcher as pods on this machine."""

import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.openmpi import operator_objects as operator
from tests.openmpi.pod import IMAGE_PATH, Pod, PodPlan, running_pod
from tests.openmpi.pod_network import PodNetwork, pod_network

ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = "/workspace"
"""WORKDIR of the image of examples/train."""


@dataclass
class JobRun:
    """The workers of ``job`` run; launchers are started one after the other, as the job's retries are."""

    job: dict[str, Any]
    network: PodNetwork
    folder: Path
    python: Path
    programs: Path
    volume: Path
    secret: Path
    workers: list[Pod] = field(default_factory=list)
    _tries: Iterator[int] = field(default_factory=count)

    @contextmanager
    def launcher(self, command: list[str] | None = None, secret: Path | None = None) -> Iterator[Pod]:
        """A try of the job. ``command`` replaces the manifest's (by another job's, which the same workers can run);
        ``secret`` is mounted instead of the job's."""
        number = next(self._tries)
        config = operator.write_hostfile(self.job, self.folder / f"config-{number}")
        template = self._template("Launcher")
        plan = self._plan(operator.launcher_name(self.job), template, operator.launcher_environment(self.job))
        mounts = {**plan.mounts, operator.HOSTFILE_FOLDER: config, operator.ssh_path(self.job): secret or self.secret}
        chosen = {"command": command or plan.command, "mounts": mounts}
        with running_pod(PodPlan(**{**vars(plan), **chosen}), self.network, self.folder / f"launcher-{number}") as pod:
            yield pod

    def start_worker(self, number: int, pods: ExitStack, secret: Path | None = None) -> None:
        name = operator.worker_name(self.job, number)
        plan = self._plan(name, self._template("Worker"), operator.worker_environment())
        folder = self.folder / f"{name}-{next(self._tries)}"
        mounts = {**plan.mounts, operator.ssh_path(self.job): secret or self.secret}
        plan = PodPlan(**{**vars(plan), "mounts": mounts})
        pod = pods.enter_context(running_pod(plan, self.network, folder))
        self.workers[number:] = [pod, *self.workers[number + 1 :]]

    def wait_until_ready(self, seconds: float = 600) -> None:
        """Until every worker's sshd listens: WaitForWorkersReady, by the readiness probe's port."""
        for pod in self.workers:
            pod.wait_for("Server listening on", seconds)

    def _template(self, kind: str) -> dict[str, Any]:
        template: dict[str, Any] = self.job["spec"]["mpiReplicaSpecs"][kind]["template"]
        return template

    def _plan(self, name: str, pod: dict[str, Any], added: Mapping[str, str]) -> PodPlan:
        template = pod["spec"]
        container = template["containers"][0]
        image = {"PATH": f"{self.python.parent}:{IMAGE_PATH}", "LD_LIBRARY_PATH": "", "PYTHONUNBUFFERED": "1"}
        mounts = {DIRECTORY: self.programs, operator.ssh_path(self.job): self.secret}
        for mount in container["volumeMounts"]:
            if mount["name"] == "shared-files":
                mounts[mount["mountPath"]] = self.volume
        hosts = {operator.service_name(self.job, pod): at for pod, at in self.network.addresses.items()}
        return PodPlan(
            name=name,
            command=container["command"],
            environment={**image, **{one["name"]: one["value"] for one in container["env"]}, **added},
            mounts=mounts,
            uid=template["securityContext"]["runAsUser"],
            gid=template["securityContext"]["runAsGroup"],
            directory=DIRECTORY,
            hosts=hosts,
            groups=tuple(template["securityContext"].get("supplementalGroups", ())),
            passwd=operator.file_over(pod, "/etc/passwd"),
        )


@contextmanager
def job_run(job: dict[str, Any], folder: Path, python: Path, volume: Path | None = None) -> Iterator[JobRun]:
    """The workers of ``job`` (a manifest), ready, on a network of their own; everything is gone afterwards.

    The image's WORKDIR holds examples/train and the programs beside this file; its python3 is ``python``. ``volume``:
    files that are there already; else there are none, in a folder of the job's user.
    """
    programs = folder / "programs"
    shutil.copytree(ROOT / "examples" / "train", programs)
    for program in ("allreduce.py", "notice.py"):
        shutil.copy(Path(__file__).with_name(program), programs)
    if volume is None:
        volume = folder / "volume"
        volume.mkdir()
        user = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["securityContext"]
        shutil.chown(volume, user["runAsUser"], user["runAsGroup"])
    secret = operator.write_ssh_secret(job, folder / "secret")
    names = [operator.launcher_name(job), *operator.workers(job)]
    with pod_network(names) as network, ExitStack() as pods:
        run = JobRun(job, network, folder, python, programs, volume, secret)
        for number in range(len(operator.workers(job))):
            run.start_worker(number, pods)
        run.wait_until_ready()
        yield run


def listens_here(port: int) -> bool:
    """Whether something on this machine's own network answers at ``port``: it must not."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
