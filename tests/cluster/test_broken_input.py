"""Broken input meets a real control plane: one line that says what, where and how to mend it, and no traceback."""

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.command_line import gpufleet, outputs
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

ANEW = "take it again from the stack's outputs (`pulumi stack output kubeconfig --show-secrets`)"
JOBS = "/apis/kubeflow.org/v2beta1/namespaces/{}/mpijobs"
POOL = {"types": ["g5.8xlarge"], "zones": ["use1-az1"], "max": 4}
SUBMIT = ["--workers", "2", "--image", "registry.invalid/train:1", "--name", "train", "--wait"]


def only_error(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that a command has ended with."""
    assert (done.returncode, done.stdout) == (1, ""), done
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("Error: ")
    return done.stderr.removeprefix("Error: ").rstrip("\n")


def submitted(file: str, *options: str) -> str:
    return only_error(gpufleet("jobs", "submit", "dev", "--outputs", file, *SUBMIT, *options, "--", "true"))


@pytest.fixture
def file(operator: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[str]:
    """An environment with one pool; afterwards no job is left in it."""
    yield outputs(operator, namespace, tmp_path, broken=POOL)
    assert operator.client.get(JOBS.format(namespace))["items"] == []


def test_more_gpus_than_a_node_of_the_pool_has(file: str) -> None:
    assert submitted(file, "--gpus", "2") == (
        "train: gpus_per_worker=2: is more than the 1 of g5.8xlarge; use 1 [any-mpi-gpus]"
    )


def test_more_gpus_than_any_node_of_a_type_has_that_the_catalog_lacks(
    operator: ControlPlane, nodes: Nodes, namespace: str, tmp_path: Path
) -> None:
    [name] = nodes.add(1, "p5.48xlarge", "use1-az2", "unlisted")
    label = {"metadata": {"labels": {"node.kubernetes.io/instance-type": "p9.48xlarge"}}}
    operator.client.merge(f"/api/v1/nodes/{name}", label)
    file = outputs(operator, namespace, tmp_path, unlisted={"types": ["p9.48xlarge"], "zones": ["use1-az2"]})
    done = gpufleet("jobs", "submit", "dev", "--outputs", file, *SUBMIT, "--gpus", "16", "--", "true")
    *advice, error = done.stderr.splitlines()
    assert all(line.startswith("note: ") for line in advice), done.stderr
    assert (done.returncode, error) == (
        1,
        f"Error: train: gpus_per_worker=16: nodes of type p9.48xlarge have at most 8, such as {name}; use 8 or fewer",
    )


def test_image_pull_secret_that_nobody_made(file: str, namespace: str) -> None:
    assert submitted(file, "--image-pull-secret", "ngc") == (
        f"train: image_pull_secret=ngc: secret not found in namespace {namespace}; make it with "
        f"`kubectl create secret docker-registry ngc -n {namespace} ...`"
    )


def test_claim_that_nobody_made(file: str, namespace: str) -> None:
    assert submitted(file, "--volume-claim", "data") == (
        f"train: volume_claim=data: PersistentVolumeClaim not found in namespace {namespace}; `pulumi up` makes "
        "the shared volume's"
    )


@pytest.mark.parametrize(
    ("label", "there", "here"),
    [
        ("gpufleet.dev/zone-id", "use1-az2", "use1-az1"),
        ("topology.kubernetes.io/zone", "us-east-1c", "us-east-1a (use1-az1)"),
    ],
)
def test_claim_whose_volume_is_in_another_zone(
    operator: ControlPlane, nodes: Nodes, namespace: str, file: str, label: str, there: str, here: str
) -> None:
    [node] = nodes.add(1, "g5.8xlarge", "use1-az1", "broken")
    zone = operator.client.get(f"/api/v1/nodes/{node}")["metadata"]["labels"]["topology.kubernetes.io/zone"]
    if label == "topology.kubernetes.io/zone":
        assert zone != there
    here = here.replace("us-east-1a", zone)
    for document in bound_claim(namespace, label, there):
        operator.client.apply(document)
    try:
        assert submitted(file, "--volume-claim", "data") == (
            f"train: volume_claim=data: its volume can be mounted in {there} only, and the workers run in {here}; "
            "use a volume of that zone, or one that all zones can mount"
        )
    finally:
        operator.client.delete(f"/api/v1/persistentvolumes/pv-{namespace}")
        nodes.remove([node])


def bound_claim(namespace: str, label: str, zone: str) -> list[dict[str, Any]]:
    """A claim and its volume, which only nodes with this label can mount."""
    size, modes = {"storage": "1Gi"}, ["ReadWriteOnce"]
    term = {"matchExpressions": [{"key": label, "operator": "In", "values": [zone]}]}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{namespace}"},
        "spec": {
            "accessModes": modes,
            "capacity": size,
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": namespace},
        "spec": {
            "accessModes": modes,
            "storageClassName": "",
            "volumeName": f"pv-{namespace}",
            "resources": {"requests": size},
        },
    }
    return [volume, claim]


# Kubeconfigs that lead nowhere.


def nobody_listens(config: dict[str, Any], folder: Path) -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
    return (
        f"dev: https://127.0.0.1:{port} cannot be reached: connection refused; is the cluster up, and this machine "
        "allowed to reach it?"
    )


def no_such_context(config: dict[str, Any], folder: Path) -> str:
    config["current-context"] = "production"
    return f"dev: its current-context is production, and the kubeconfig has only rehearsal under contexts; {ANEW}"


def no_credentials(config: dict[str, Any], folder: Path) -> str:
    config["users"][0]["user"] = {}
    return "dev: the kubeconfig holds no credentials (403 "


def wrong_token(config: dict[str, Any], folder: Path) -> str:
    config["users"][0]["user"]["token"] = "wrong"
    server = config["clusters"][0]["cluster"]["server"]
    return (
        f"dev: {server} does not accept the credentials (401 Unauthorized); sign in again, or take the kubeconfig "
        "again from the stack's outputs"
    )


def another_authority(config: dict[str, Any], folder: Path) -> str:
    made = folder / "other.crt"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other"]
    subprocess.run([*command, "-keyout", folder / "other.key", "-out", made], capture_output=True, check=True)
    cluster = config["clusters"][0]["cluster"]
    del cluster["certificate-authority-data"]
    cluster["certificate-authority"] = str(made)
    return (
        f"dev: {cluster['server']} is not trusted: its certificate is not signed by the kubeconfig's authority; "
        "take the kubeconfig again from the stack's outputs"
    )


def authority_that_is_none(config: dict[str, Any], folder: Path) -> str:
    config["clusters"][0]["cluster"]["certificate-authority-data"] = "bm8gY2VydGlmaWNhdGU="
    server = config["clusters"][0]["cluster"]["server"]
    return f"dev: {server} is not trusted: the kubeconfig's authority is not a certificate; take the kubeconfig again"


def another_service(config: dict[str, Any], folder: Path) -> str:
    """A server that is no API server: its paths are not known."""
    config["clusters"][0]["cluster"]["server"] += "/elsewhere"
    server = config["clusters"][0]["cluster"]["server"]
    return f"train: dev: {server} is not a Kubernetes API server: /api/v1 not found; take the kubeconfig again"


BROKEN = [
    nobody_listens,
    no_such_context,
    no_credentials,
    wrong_token,
    another_authority,
    authority_that_is_none,
    another_service,
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda each: each.__name__)
def test_kubeconfig_that_leads_nowhere(
    operator: ControlPlane,
    namespace: str,
    tmp_path: Path,
    broken: Callable[[dict[str, Any], Path], str],
) -> None:
    config = deepcopy(json.loads(operator.kubeconfig.read_text()))
    line = broken(config, tmp_path)
    file = outputs(operator, namespace, tmp_path, kubeconfig=config, broken=POOL)
    assert submitted(file).startswith(line)


def test_text_that_is_no_yaml(operator: ControlPlane, namespace: str, tmp_path: Path) -> None:
    file = outputs(operator, namespace, tmp_path, kubeconfig="a: b: c", broken=POOL)
    assert submitted(file) == (
        f"dev: is not a kubeconfig: line 1: is not YAML: mapping values are not allowed in this context; {ANEW}"
    )
