"""The API server ends in the middle of a `--wait`: it goes on when the server is there again, and says so when not.

A control plane of its own, whose API server the tests end and start. What is played: the MPI operator, whose conditions
the tests write; what is followed is a job of its real kind on a real API server.
"""

import http
import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpufleet.errors import UserError
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.api_paths import OPERATOR
from gpufleet.jobs.kubernetes.follow import KubernetesJobFollower
from tests.cluster.command_line import gpufleet, outputs, running, said_to_the_end, said_until
from tools.kubernetes import commands
from tools.kubernetes.api_client import ApiRefused, wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.processes import Identity, Processes
from tools.kubernetes.programs import programs

NAMESPACE = "default"
KINDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mpijobs.kubeflow.org"
JOBS = f"/apis/kubeflow.org/v2beta1/namespaces/{NAMESPACE}/mpijobs"
POOL = {"types": ["g5.8xlarge"], "zones": ["use1-az1"]}
SUBMIT = ["--workers", "1", "--image", "registry.invalid/train:1"]


class ApiServer:
    """The API server of a control plane, which can end and come back."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self._processes = Processes(plane.home)

    def end(self) -> None:
        """As when its machine fails: at once, with all of its connections."""
        found = self._processes.find("kube-apiserver")
        assert found
        os.kill(found.pid, signal.SIGKILL)
        wait_until("the API server has ended", lambda: self._processes.find("kube-apiserver") is None)

    def start(self) -> None:
        """On the same port, with the same data."""
        if self._processes.find("kube-apiserver") is None:
            command = commands.kube_apiserver(self.plane.layout)
            self._processes.start("kube-apiserver", [str(programs()["kube-apiserver"].executable), *command])
        wait_until("the API server is ready", lambda: self.plane.running)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    made = ControlPlane(tmp_path_factory.mktemp("alone") / "home", print)
    made.start(owner=Identity.of(os.getpid()))
    yield made
    made.stop()


@pytest.fixture
def server(alone: ControlPlane) -> Iterator[ApiServer]:
    """With the MPI operator's kind, and without the operator; running again afterwards."""
    manifest = yaml.safe_load_all(programs()["mpi-operator"].file("mpi-operator.yaml").read_text(encoding="utf-8"))
    alone.client.apply(next(each for each in manifest if each and each["kind"] == "CustomResourceDefinition"))
    wait_until("MPI jobs are served", lambda: registered(alone) and serves_jobs(alone))
    found = ApiServer(alone)
    yield found
    found.start()


def registered(plane: ControlPlane) -> bool:
    """Whether the API server tells of MPI jobs, which `jobs submit` asks first: a while after a kind is made or deleted
    it still says what was before."""
    return plane.client.find(OPERATOR) is not None


def serves_jobs(plane: ControlPlane) -> bool:
    try:
        return plane.client.find(JOBS) is not None
    except ApiRefused as refused:
        # 429: the storage of a new kind is being set up.
        if refused.code != http.HTTPStatus.TOO_MANY_REQUESTS:
            raise
        return False


def tell(plane: ControlPlane, name: str, state: str) -> None:
    """What the operator would say of a job."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    told = {"type": state, "status": "True", "reason": f"MPIJob{state}", "lastTransitionTime": now}
    status: dict[str, Any] = {"startTime": now, "conditions": [told]}
    if state == "Succeeded":
        status["completionTime"] = now
    plane.client.merge(f"{JOBS}/{name}/status", {"status": status})


def test_cluster_without_the_operator_takes_no_job_and_says_how_it_gets_one(
    alone: ControlPlane, tmp_path: Path
) -> None:
    alone.client.delete(KINDS)
    wait_until("MPI jobs are not served", lambda: not registered(alone) and not serves_jobs(alone))
    file = outputs(alone, NAMESPACE, tmp_path, own=POOL)
    lacks = (
        "dev has no MPI operator (kubeflow.org/v2beta1 MPIJob is not installed there); install it with `pulumi up`, "
        "or the "
        "component gpufleet.kubernetes.MpiOperator"
    )
    done = gpufleet("jobs", "submit", "dev", "--outputs", file, *SUBMIT, "--name", "train", "--wait", "--", "true")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: train: {lacks}\n")
    listed = gpufleet("jobs", "list", "dev", "--outputs", file)
    assert (listed.returncode, listed.stdout, listed.stderr) == (1, "", f"Error: {lacks}\n")


def test_wait_goes_on_when_the_server_is_there_again(server: ApiServer, tmp_path: Path) -> None:
    plane = server.plane
    file = outputs(plane, NAMESPACE, tmp_path, own=POOL)
    with running("jobs", "submit", "dev", "--outputs", file, *SUBMIT, "--name", "back", "--wait", "--", "true") as job:
        said_until(job, "back: Submitted")
        tell(plane, "back", "Running")
        said_until(job, "back: Running")
        server.end()
        [*_, away] = said_until(job, "trying again")
        server.start()
        tell(plane, "back", "Succeeded")
        rest, code = said_to_the_end(job)
    address = plane.layout.server
    assert away.startswith(f"dev: {address} cannot be reached: "), away
    assert away.endswith("; trying again for 10 min")
    assert rest[0] == f"{address} answers again"
    assert rest[-2] == "back: Succeeded"
    assert rest[-1].startswith("back: succeeded after ")
    assert len(rest) == 3, rest
    assert code == 0


def test_server_that_stays_away_ends_the_waiting_with_one_line_that_says_how_to_go_on(
    server: ApiServer, tmp_path: Path
) -> None:
    """The command line is patient for ten minutes, so that it ends by Ctrl-C here; less backoff ends by itself."""
    plane = server.plane
    file = outputs(plane, NAMESPACE, tmp_path, own=POOL)
    api, resume = KubernetesApi.of(plane.kubeconfig.read_text(), "dev"), "gpufleet jobs logs dev left --follow"
    backoff = Backoff(first=0.1, longest=0.5, limit=2)
    following = KubernetesJobFollower(api, NAMESPACE, "left", resume, logs=False, shortest=0.1, backoff=backoff)
    with running("jobs", "submit", "dev", "--outputs", file, *SUBMIT, "--name", "left", "--wait", "--", "true") as job:
        said_until(job, "left: Submitted")
        events = following.events()
        said: list[Event] = [next(events)]
        server.end()
        with pytest.raises(UserError) as caught:  # noqa: PT012 - what comes before counts, too
            for event in events:
                said.append(event)
        said_until(job, "trying again")
        job.send_signal(signal.SIGINT)
        rest, code = said_to_the_end(job)
    assert [event.kind for event in said] == [EventKind.STATE, EventKind.NOTE]
    line = str(caught.value)
    assert line.startswith(f"dev: {plane.layout.server} cannot be reached: ")
    assert line.endswith(f"; gave up after 2 s, the job is not touched; continue with `{resume}`")
    assert line.isprintable()
    assert [line for line in rest if line] == [
        f"left: continues; follow it again with `{resume}`; stop it with `gpufleet jobs cancel dev left`"
    ]
    assert code == 130
    server.start()
    assert plane.client.get(f"{JOBS}/left")["metadata"]["name"] == "left"
