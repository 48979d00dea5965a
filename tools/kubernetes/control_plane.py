"""A real Kubernetes control plane on this machine: etcd, API server, controllers, scheduler, and fake nodes by kwok.

    plane = ControlPlane(Path(".rehearsal/kubernetes"))
    plane.start()               # about five seconds
    plane.install_mpi_operator()
    ...                         # plane.kubeconfig, plane.client, plane.logs
    plane.stop()

Everything listens on 127.0.0.1. The processes outlive who started them; `stop` of any ControlPlane with the same home
ends them. With an owner they end by themselves when that process is gone.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from tools.file_lock import turn
from tools.kubernetes import commands
from tools.kubernetes.api_client import ApiClient, ApiRefused, ApiSilent, wait_until
from tools.kubernetes.commands import HOST, Layout
from tools.kubernetes.credentials import KeysMissing, kubeconfig, make_signing_key, make_token_file, write_private
from tools.kubernetes.jobset import install_jobset
from tools.kubernetes.kueue import install_kueue
from tools.kubernetes.kwok_stages import write_stages
from tools.kubernetes.processes import Identity, ProcessEnded, Processes
from tools.kubernetes.programs import ProgramMissing, programs
from tools.ports import NoFreePort, free_ports

ROOT = Path(__file__).resolve().parents[2]

START_TRIES = 3
"""A port can be taken between its choice and its use."""

SYSTEM_NODES = 1

OPERATOR_FOR_MANY_WORKERS = (
    "--kube-api-qps=300",
    "--kube-api-burst=600",
    "--controller-queue-rate-limit=1000",
    "--controller-queue-burst=10000",
)
"""By itself the operator sends 5 requests a second, one for each worker's pod: 512 workers took 157 s. And it puts off
every event of a pod by a bucket of 10 a second, so that other jobs waited for minutes behind 512 workers' events."""

HOSTED = "hosted-"
"""What the names of processes begin with that stand for pods: those of the supervisor, and the stand-in
autoscaler's."""

AUTOSCALER = f"{HOSTED}autoscaler"


class ControlPlaneFailed(Exception):
    """It cannot be started, stopped or used; the text says why, in one line."""


def _silent(line: str) -> None:
    """Say nothing."""


class ControlPlane:
    """One control plane, known by its home directory."""

    ORDER = ("supervisor", "kwok", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd")
    """In which they are ended."""

    def __init__(self, home: Path, say: Callable[[str], None] = _silent) -> None:
        """home: a directory of its own, which need not exist; `start` and `stop` delete what is in it."""
        self.home = home.resolve()
        self._say = say
        self._processes = Processes(self.home)
        self._client: ApiClient | None = None

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.home / "kubeconfig"

    @property
    def logs(self) -> Path:
        """The directory with one log per process."""
        return self.home / "logs"

    @property
    def layout(self) -> Layout:
        """Its places and ports. Raises ControlPlaneFailed where it was not started."""
        try:
            ports = json.loads((self.home / "ports.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ControlPlaneFailed(f"no control plane in {self.home}; `make cluster-up` starts one") from None
        return Layout(self.home, **ports)

    @property
    def client(self) -> ApiClient:
        """Talks to the API server as administrator."""
        if self._client is None:
            layout = self.layout
            token = layout.tokens.read_text(encoding="utf-8").partition(",")[0]
            self._client = ApiClient(layout.server, token, layout.authority)
        return self._client

    @property
    def running(self) -> bool:
        """Whether all of its processes run and the API server says that it is ready."""
        if any(self._processes.find(name) is None for name in self.ORDER):
            return False
        return self._ready()

    def start(self, *, owner: Identity | None = None, system_nodes: int = SYSTEM_NODES) -> None:
        """Start it anew and empty, unless it runs; ready when pods can be made and are given to nodes.

        owner: the process with which it is to end. system_nodes: nodes without GPUs, for operators and launchers.
        Raises ControlPlaneFailed; then nothing of it runs.
        """
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        with turn(self.home, f"another start in {self.home} is running; waiting for it", self._say):
            if self.running:
                return
            self._clear()
            try:
                self._start(owner)
                self._add_system_nodes(system_nodes)
            except (ApiSilent, ApiRefused, KeysMissing, NoFreePort, ProcessEnded, ProgramMissing) as problem:
                self._end()
                raise ControlPlaneFailed(f"the control plane does not start: {problem}") from None
            except BaseException:
                self._end()
                raise

    def stop(self, *, by_supervisor: bool = False) -> list[str]:
        """End its processes and delete its data, but not its logs; returns the names of what ran.

        It does not matter who started it. by_supervisor: the supervisor asks, which ends after this by itself. Raises
        ControlPlaneFailed where a process cannot be ended.
        """
        if not self.home.exists():
            return []
        with turn(self.home, f"a start in {self.home} is running; waiting for it", self._say):
            return self._end(by_supervisor)

    def status(self) -> dict[str, str]:
        """Each process that was started, with its id or `ended`."""
        found = {name: self._processes.find(name) for name in self._processes.names()}
        return {name: str(identity.pid) if identity else "ended" for name, identity in found.items()}

    def install_mpi_operator(self, arguments: Sequence[str] = ()) -> None:
        """Apply the operator's own manifest, server-side, and wait until its controller leads.

        arguments: more for its container, for instance OPERATOR_FOR_MANY_WORKERS.
        """
        manifest = programs()["mpi-operator"].file("mpi-operator.yaml")
        for document in yaml.load_all(manifest.read_text(encoding="utf-8"), Loader=_LOADER):
            if not document:
                continue
            if document["kind"] == "Deployment":
                document["spec"]["template"]["spec"]["containers"][0]["args"] += arguments
            self.client.apply(document)
        self._wait("the MPI operator leads", self._mpi_operator_leads)

    def install_jobset(self) -> None:
        """Install JobSet, before Kueue where that is to queue its jobs; wait until it answers (jobset.py)."""
        install_jobset(self.client, self.layout, self._wait)

    def install_kueue(self) -> None:
        """Install Kueue, after the MPI operator, whose jobs it is to manage; wait until it answers (kueue.py)."""
        install_kueue(self.client, self.layout, self._wait)

    def start_autoscaler(self, pools: Sequence[Mapping[str, Any]], idle_seconds: float, boot_seconds: float) -> None:
        """Start the stand-in autoscaler for these pools (autoscaler.py says what a row has); it ends with `stop`.

        idle_seconds: after which an empty node goes. boot_seconds: that an instance takes to become a node.
        """
        rows = self.home / "pools.yaml"
        rows.write_text(yaml.safe_dump(list(pools)), encoding="utf-8")
        words = [str(self.kubeconfig), str(rows), f"--idle={idle_seconds}", f"--boot={boot_seconds}"]
        self.stop_autoscaler()
        self._start_own(AUTOSCALER, "autoscaler", *words)

    def stop_autoscaler(self) -> None:
        """End the stand-in autoscaler, if it runs."""
        self._processes.stop([AUTOSCALER])

    def _mpi_operator_leads(self) -> bool:
        lease = self.client.find("/apis/coordination.k8s.io/v1/namespaces/mpi-operator/leases/mpi-operator")
        return bool(lease and lease["spec"].get("holderIdentity"))

    def _start(self, owner: Identity | None) -> None:
        layout = self._start_server()
        authority = layout.authority.read_bytes()
        token = layout.tokens.read_text(encoding="utf-8").partition(",")[0]
        write_private(layout.kubeconfig, kubeconfig(layout.server, authority, token))
        write_stages(layout.stages)
        for name in ("kwok.x-k8s.io_logs.yaml", "kwok.x-k8s.io_execs.yaml"):
            text = programs()["kwok"].file(name).read_text(encoding="utf-8")
            self.client.apply(yaml.load(text, Loader=_LOADER))
        self._launch("kube-controller-manager", commands.kube_controller_manager(layout))
        self._launch("kube-scheduler", commands.kube_scheduler(layout))
        self._wait("kwok's kinds are served", self._kinds_of_kwok)
        self._launch("kwok", commands.kwok(layout))
        whose = [f"--owner={owner}"] if owner else []
        self._start_own("supervisor", "supervisor", str(self.home), *whose)
        self._wait("service accounts are made", self._default_account)

    def _start_own(self, name: str, module: str, *words: str) -> None:
        """Start a program of this package; it is found from every directory."""
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", f"{__package__}.{module}", *words]
        self._processes.start(name, command, {**os.environ, "PYTHONPATH": path})

    def _start_server(self) -> Layout:
        """etcd and the API server; with other ports, if somebody was quicker."""
        for attempt in range(1, START_TRIES + 1):
            layout = self._prepare()
            self._launch("etcd", commands.etcd(layout))
            self._launch("kube-apiserver", commands.kube_apiserver(layout))
            try:
                self._wait("the API server is ready", self._ready)
            except ProcessEnded as ended:
                if attempt == START_TRIES or "address already in use" not in str(ended):
                    raise
                self._clear()
            else:
                return layout
        raise AssertionError("not reached")

    def _prepare(self) -> Layout:
        """Ports, keys and tokens of a new control plane."""
        ports = free_ports(4)
        layout = Layout(self.home, *ports)
        numbers = {name: value for name, value in asdict(layout).items() if name != "home"}
        write_private(self.home / "ports.json", json.dumps(numbers))
        layout.certificates.mkdir(mode=0o700)
        make_signing_key(layout.signing_key)
        make_token_file(layout.tokens)
        return layout

    def _launch(self, name: str, words: list[str]) -> None:
        self._processes.start(name, [str(programs()[name].executable), *words])

    def _wait(self, what: str, happened: Callable[[], bool]) -> None:
        """Wait, as long as everything runs that nobody starts again: the supervisor does that for what it hosts."""

        def look() -> bool:
            for name in self._processes.names():
                if not name.startswith(HOSTED):
                    self._processes.must_run(name)
            return happened()

        seconds = wait_until(what, look)
        self._say(f"{what} ({seconds:.1f} s)")

    def _ready(self) -> bool:
        layout = self.layout
        # The certificate is written before the key, and both before the server listens.
        if not (layout.certificates / "apiserver.key").exists():
            return False
        try:
            self.client.text("/readyz")
        except (ApiSilent, ApiRefused):
            return False
        return True

    def _kinds_of_kwok(self) -> bool:
        served = self.client.find("/apis/kwok.x-k8s.io/v1alpha1")
        return served is not None and len(served["resources"]) >= 2

    def _default_account(self) -> bool:
        return self.client.find("/api/v1/namespaces/default/serviceaccounts/default") is not None

    def _add_system_nodes(self, count: int) -> None:
        from tools.kubernetes.nodes import Nodes

        nodes = Nodes(self.client)
        nodes.add_system(count)
        self._wait(f"{count} system nodes are ready", lambda: nodes.ready() >= count)

    def _clear(self) -> None:
        self._end()
        shutil.rmtree(self.logs, ignore_errors=True)

    def _end(self, by_supervisor: bool = False) -> list[str]:
        self._client = None
        try:
            # The supervisor first: it would start again what it hosts.
            ended = [] if by_supervisor else self._processes.stop(["supervisor"])
            ended += self._processes.stop([name for name in self._processes.names() if name.startswith(HOSTED)])
            for name in self.ORDER[1:]:
                ended += self._processes.stop([name])
        except ProcessEnded as problem:
            raise ControlPlaneFailed(str(problem)) from None
        for path in self.home.iterdir():
            if path.is_dir() and path != self.logs:
                shutil.rmtree(path)
            elif not path.is_dir():
                path.unlink(missing_ok=True)
        return ended


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""A CustomResourceDefinition of 9,000 lines takes 0.2 s with the loader in C, several seconds without."""

__all__ = ["HOST", "ControlPlane", "ControlPlaneFailed"]
