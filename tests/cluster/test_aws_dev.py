"""aws-dev rehearsed whole: its cluster takes jobs from desired 0, and it goes in the right order with a job at work."""

import hashlib
import json
import re
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.kubernetes.load_balancers import INTERFACE, SUBNET
from tests.cluster.rehearsed_jobs import Rehearsed
from tests.cluster.shared_volume import SharedVolume, mounted
from tests.cluster.workloads import condition, pods
from tests.e2e.rehearsed_project import Project, copy_of_ours, held
from tests.tools.guide_commands import guide_commands
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

TEAM = "training"
JOB = ("--gpus", "1", "--image", "training:1", "--", "python3", "train.py")
WORKER = "training.kubeflow.org/job-role=worker"


@pytest.fixture(scope="module")
def volume(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is on the shared volume."""
    directory = tmp_path_factory.mktemp("files") / "volume"
    directory.mkdir()
    return directory


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, volume: Path) -> Iterator[Project]:
    made = copy_of_ours(tmp_path_factory.mktemp("project"), control_plane=True)
    made = replace(made, before=mounted(volume))
    made.configure(lambda config: config.update(erase=True))
    yield made
    made.home.control_plane.stop()


@pytest.fixture(scope="module")
def plane(project: Project) -> ControlPlane:
    """That of the rehearsal, with all that the stack installs."""
    up = project.rehearse()
    assert up.returncode == 0, up.stdout + up.stderr
    assert "gpufleet jobs submit aws-dev --workers 2 --follow -- python3 train.py --synthetic" in up.stdout
    return ControlPlane(project.home.root / "kubernetes")


def inside(project: Project, *command: str) -> tuple[str, str, int]:
    """A command within the rehearsal: what it printed, what it said beside, and its exit code."""
    done = project.rehearse("--", *command)
    return done.stdout, done.stderr, done.returncode


def balancers(project: Project, *, gone: bool = False) -> list[Any]:
    """The network interfaces of load balancers in the simulated cloud."""
    found = project.cloud.store.resources(INTERFACE, gone=gone)
    return [each for each in found if str(each.view["description"]).startswith("ELB ")]


def gpu_nodes(plane: ControlPlane) -> list[dict[str, Any]]:
    query = {"labelSelector": "gpufleet.dev/pool=aws-dev-trainers"}
    return list(plane.client.get("/api/v1/nodes", **query)["items"])


def test_a_job_grows_the_pool_from_0_in_one_zone_and_it_returns_to_0(project: Project, plane: ControlPlane) -> None:
    assert gpu_nodes(plane) == []
    submit = ("gpufleet", "jobs", "submit", "aws-dev", "--workers", "2", "--name", "first", "--wait", *JOB)
    _, said, code = inside(project, *submit)
    assert code == 0, said
    states = [line for line in said.splitlines() if re.fullmatch(r"first: \w+", line)]
    # How long it is Submitted and Created is a matter of the machine's load.
    brief = ("first: Submitted", "first: Created")
    assert [each for each in states if each not in brief] == ["first: submitted", "first: Running", "first: Succeeded"]
    assert "first: succeeded after" in said
    job = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "first", "namespace": TEAM}}
    assert condition(plane, job, ("Succeeded",)) == "Succeeded"
    log = (plane.logs / "hosted-autoscaler.log").read_text()
    assert re.findall(r"node aws-dev-trainers-nodes-\w+-(use1-az\d)-\d is there", log) == ["use1-az1"] * 2
    wait_until("the pool is empty", lambda: gpu_nodes(plane) == [])


def test_first_job_runs_as_printed(project: Project, plane: ControlPlane) -> None:
    Rehearsed(project, "aws-dev").run_first_job()


def test_notebook_of_the_guide(project: Project, plane: ControlPlane) -> None:
    """The notebook's image is built on the first job's; pods on fake nodes run nothing of it."""
    build, submit = [each for each in guide_commands("notebooks") if " aws-dev " in each]
    lab = Rehearsed(project, "aws-dev")
    told, said, code = lab.line(build)
    assert code == 0, said
    assert "aws-dev/training" in told + said
    told, said, code = lab.line(submit)
    assert code == 0, said
    assert re.search(r"^fit-\S+: succeeded after", said, re.MULTILINE), said
    jobs = plane.client.get(f"/apis/kubeflow.org/v2beta1/namespaces/{TEAM}/mpijobs")["items"]
    (job,) = [each for each in jobs if each["metadata"]["name"].startswith("fit-")]
    template = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
    (container,) = template["containers"]
    assert container["command"][-5:] == ["fit.ipynb", job["metadata"]["name"], "-p", "epochs", "90"]


def commands_of_the_guide(verb: str) -> list[str]:
    """Those of docs/jobs.md for this environment."""
    return [each for each in guide_commands("jobs") if re.match(f"gpufleet {verb} aws-dev", each)]


def test_job_of_the_guide(project: Project, plane: ControlPlane) -> None:
    """The image of the first job is there, and pods on fake nodes run nothing."""
    (command,) = commands_of_the_guide("jobs submit")
    Rehearsed(project, "aws-dev").run_job(command)


def test_check_of_the_guide(project: Project, plane: ControlPlane) -> None:
    (command,) = commands_of_the_guide("check")
    lab = Rehearsed(project, "aws-dev")
    lab.start("holds", "--workers", "2", "--gpus", "1")
    lab.placed("holds", 2)
    told, said, code = lab.line(command)
    assert (code, said) == (0, "")
    assert told.splitlines()[-2:] == [
        "unverified  bandwidth: the nodes are fake: no container runs on them; run it on real nodes",
        "aws-dev, 2 nodes of trainers: ready; 0 failed, 1 not verified",
    ]
    lab.cancel("holds")


@contextmanager
def website(folder: Path) -> Iterator[dict[str, str]]:
    """https://example.org/ with the files of a folder, for a curl with the variables that this yields."""
    key, certificate = folder.parent / "key.pem", folder.parent / "certificate.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=example.org"
    files = ("-addext", "subjectAltName=DNS:example.org", "-keyout", str(key), "-out", str(certificate))
    subprocess.run([*words.split(), *files], capture_output=True, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    here = f'connect-to = "example.org:443:127.0.0.1:{server.server_port}"\ncacert = "{certificate}"\n'
    (folder.parent / ".curlrc").write_text(here)
    try:
        yield {"CURL_HOME": str(folder.parent)}
    finally:
        server.shutdown()
        server.server_close()


def test_data_of_the_guide(project: Project, plane: ControlPlane, volume: Path, tmp_path: Path) -> None:
    put, listing, get, fetch = commands_of_the_guide("data [a-z]+")
    images = project.folder / "imagenet"
    images.mkdir()
    (images / "0.jpg").write_bytes(b"an image")
    run = volume / "checkpoints" / "run-1"
    run.mkdir(parents=True)
    (run / "7.npz").write_bytes(b"weights")
    site = tmp_path / "site"
    (site / "voc").mkdir(parents=True)
    content = bytes(range(256)) * 4096
    (site / "voc" / "train.tar").write_bytes(content)
    digits = hashlib.sha256(content).hexdigest()
    lab = Rehearsed(project, "aws-dev")
    with website(site) as variables, SharedVolume(plane, TEAM, volume, variables).played():
        told, said, code = lab.line(put)
        assert (code, told.splitlines()[-1]) == (0, "1 files, 8 bytes sent, checksums right"), said
        assert (volume / "data" / "imagenet" / "0.jpg").read_bytes() == b"an image"

        told, said, code = lab.line(listing)
        assert (code, [line.split()[::2] for line in told.splitlines()]) == (0, [["8", "data/imagenet/0.jpg"]]), said

        told, said, code = lab.line(get)
        assert (code, told.splitlines()[-1]) == (0, "1 files, 7 bytes sent, checksums right"), said
        assert (project.folder / "run-1" / "7.npz").read_bytes() == b"weights"

        told, said, code = lab.line(fetch.replace("DIGITS", digits))
        size = f"{len(content):,} bytes"
        assert (code, told.splitlines()) == (
            0,
            [f"data/train.tar: {size}, {size} sent", f"1 files, {size} sent, checksums right"],
        ), said
        assert (volume / "data" / "train.tar").read_bytes() == content


def test_pods_have_what_the_stack_knows(project: Project, plane: ControlPlane) -> None:
    text, said, code = inside(
        project, "gpufleet", "jobs", "submit", "aws-dev", "--workers", "2", "--dry-run", "--json", *JOB
    )
    assert code == 0, said
    worker = json.loads(text)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert worker["nodeSelector"] == {
        "gpufleet.dev/network": "efa",
        "gpufleet.dev/pool": "aws-dev-trainers",
        "gpufleet.dev/zone-id": "use1-az1",
        "node.kubernetes.io/instance-type": "g5.8xlarge",
        "nvidia.com/gpu.present": "true",
    }
    assert worker["containers"][0]["image"].endswith("/aws-dev/training:1")
    assert worker["serviceAccountName"] == "trainer"
    assert worker["volumes"][1]["persistentVolumeClaim"] == {"claimName": "shared"}
    claim = plane.client.get(f"/api/v1/namespaces/{TEAM}/persistentvolumeclaims/shared")
    assert claim["status"]["phase"] == "Bound"
    volume = plane.client.get(f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")
    made = {r["type"]: r["id"] for r in project.state() if r["type"].startswith("aws:efs/")}
    ids = (made["aws:efs/fileSystem:FileSystem"], made["aws:efs/accessPoint:AccessPoint"])
    assert volume["spec"]["csi"]["volumeHandle"] == "::".join(ids)


def test_destroy_ends_on_the_first_try_with_a_job_at_work(
    project: Project, plane: ControlPlane, tmp_path: Path
) -> None:
    submit = ("gpufleet", "jobs", "submit", "aws-dev", "--workers", "2", "--name", "busy", "--dry-run", "--json", *JOB)
    job = json.loads(inside(project, *submit)[0])
    launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]
    launcher["annotations"] = {"rehearsal.gpufleet.dev/runs-for": "600s"}
    plane.client.apply(job)
    assert condition(plane, job, ("Running", "Failed")) == "Running"
    assert len(pods(plane, TEAM, WORKER)) == 2
    # By hand, as somebody does who wants to look at a training run; the stack knows nothing of it.
    board = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "board", "namespace": TEAM}}
    plane.client.apply({**board, "spec": {"type": "LoadBalancer", "ports": [{"port": 6006, "protocol": "TCP"}]}})
    project.home.control_plane.follow_fleet()
    status = plane.client.get(plane.client.path(board))["status"]
    assert status["loadBalancer"]["ingress"][0]["hostname"].endswith(".us-east-1.elb.rehearsal.invalid")
    public = {r["id"] for r in project.state() if re.search("::aws-dev-network-public-use1-az\\d$", r["urn"])}
    assert {each.view["subnetId"] for each in balancers(project)} == public
    assert len(public) == 2
    assert (
        len(Nodes(plane.client).of_pool(gpu_nodes(plane)[0]["metadata"]["labels"]["eks.amazonaws.com/nodegroup"])) == 2
    )

    destroyed = project.rehearse("--destroy")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert destroyed.stdout.splitlines()[-1] == "Nothing is left in the simulated cloud."
    assert held(project.cloud) == []
    assert not plane.running
    assert balancers(project) == []
    first = min(each.deleted_at for each in project.cloud.store.resources(SUBNET, gone=True))
    assert all(each.deleted_at < first for each in balancers(project, gone=True))
    gone = [line.split()[2] for line in destroyed.stdout.splitlines() if re.match(r" -  \S+ \S+ deleted ", line)]
    order = ["aws-dev-team-namespace", "aws-dev-trainers-nodes", "aws-dev-cluster-cluster", "aws-dev-network-vpc"]
    assert [name for name in gone if name in order] == order
    for earlier, later in (
        ("aws-dev-volume-volume", "aws-dev-files-mount-use1-az1"),
        ("aws-dev-mpi-operator-deployment-mpi-operator", "aws-dev-cluster-system"),
        ("aws-dev-autoscaler-release", "aws-dev-autoscaler-identity-association"),
    ):
        assert gone.index(earlier) < gone.index(later), (earlier, later)
