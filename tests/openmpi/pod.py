"""A pod without a container runtime: namespaces, a file tree, environment and user as its manifest asks for."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.openmpi.pod_network import PodNetwork

_ENTER = Path(__file__).with_name("enter_pod.sh")
IMAGE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""PATH of the image of examples/train, before its Python's own directory."""


@dataclass
class Pod:
    """A running pod. Its first process is the container's command; with it everything inside ends."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def wait(self, seconds: float) -> int:
        """The command's exit code."""
        return self.process.wait(timeout=seconds)

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, word: str, seconds: float) -> str:
        """The log, as soon as ``word`` is in it; fails when the pod ends or time is over before."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if word in self.text():
                return self.text()
            assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}:\n{self.text()}"
            time.sleep(0.05)
        raise AssertionError(f"{self.name}: no {word!r} within {seconds} s:\n{self.text()}")

    def first_process(self) -> int:
        """Its pid on this machine; within the pod it is 1."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        assert children, f"{self.name} has ended:\n{self.text()}"
        return int(children[0])

    def processes(self) -> list[int]:
        """The pids on this machine of all processes inside."""
        inside, waiting = [], [self.first_process()]
        while waiting:
            pid = waiting.pop()
            inside.append(pid)
            try:
                waiting += [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
            except (FileNotFoundError, ProcessLookupError):
                continue
        return inside

    def running(self, word: bytes, file: str = "cmdline") -> list[int]:
        """The pids of its processes that have ``word`` in /proc/<pid>/``file``; one may end while this looks."""
        pids = []
        for pid in self.processes():
            with suppress(FileNotFoundError, ProcessLookupError):
                if word in Path(f"/proc/{pid}/{file}").read_bytes():
                    pids.append(pid)
        return pids

    def rank(self, number: int) -> int:
        """The pid of rank ``number``, a Python process that mpirun started in here."""
        for pid in self.running(f"OMPI_COMM_WORLD_RANK={number}\0".encode(), "environ"):
            with suppress(FileNotFoundError, ProcessLookupError):
                if Path(f"/proc/{pid}/exe").readlink().name.startswith("python"):
                    return pid
        raise AssertionError(f"{self.name} has no rank {number}:\n{self.text()}")

    def take(self) -> None:
        """Notice, as a kubelet gives it when a node is drained: SIGTERM to the first process."""
        os.kill(self.first_process(), signal.SIGTERM)

    def end(self) -> None:
        """Kill it as a node that goes away does: its first process, and with it all inside. Safe to call twice."""
        if self.process.poll() is None:
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            for pid in children or [str(self.process.pid)]:
                os.kill(int(pid), signal.SIGKILL)
        self.process.wait(timeout=600)


@dataclass(frozen=True)
class PodPlan:
    """What a pod is started with. ``mounts`` are folders of this machine by their place in the pod."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    mounts: Mapping[str, Path]
    uid: int
    gid: int
    directory: str
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Addresses of names: what the cluster's DNS and kubelet tell."""
    groups: tuple[int, ...] = ()
    """supplementalGroups."""
    passwd: str | None = None
    """What is mounted over the image's /etc/passwd."""
    server: bool = False
    """Whether it is a server and no container: its user may run setuid programs, and mount by FUSE."""


@contextmanager
def running_pod(plan: PodPlan, network: PodNetwork, folder: Path) -> Iterator[Pod]:
    """The pod of ``plan``, its files in ``folder``; afterwards all of its processes are gone."""
    folder.mkdir(parents=True)
    (folder / "scratch").mkdir()
    etc = folder / "etc"
    etc.mkdir()
    own = {plan.name: network.addresses[plan.name], "localhost": "127.0.0.1"}
    lines = [f"{address}\t{name}\n" for name, address in {**plan.hosts, **own}.items()]
    (etc / "hosts").write_text("".join(lines))
    (etc / "hostname").write_text(plan.name + "\n")
    # ssh and sshd ask who their user is.
    users = ["root:x:0:0::/root:/bin/sh", "sshd:x:100:65534::/run/sshd:/usr/sbin/nologin"]
    users += ["trainer:x:1000:1000::/tmp:/bin/sh"] if plan.uid else []
    (etc / "passwd").write_text(plan.passwd or "".join(f"{user}\n" for user in users))
    if plan.server:
        (folder / "server").touch()
    (folder / "groups").write_text(",".join(str(each) for each in plan.groups))
    (folder / "mounts").write_text("".join(f"{source} {target}\n" for target, source in plan.mounts.items()))
    # When the tests are killed, so is the pod, and with its first process all that is in it.
    namespaces = ["setpriv", "--pdeathsig", "KILL", "nsenter", f"--net={network.namespace(plan.name)}"]
    namespaces += ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child=SIGKILL"]
    places = [str(folder / "scratch"), str(folder), str(plan.uid), str(plan.gid), plan.directory]
    command = [*namespaces, "sh", str(_ENTER), plan.name, *places, *plan.command]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={"HOSTNAME": plan.name, "HOME": "/tmp", **plan.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    pod = Pod(plan.name, process, log)
    try:
        yield pod
    finally:
        pod.end()
        shutil.rmtree(folder / "scratch", ignore_errors=True)


def send(pid: int, number: signal.Signals) -> None:
    os.kill(pid, number)
