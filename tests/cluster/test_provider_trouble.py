"""The stand-in for the kubernetes provider when things go wrong: one clear line, and a state that a next `up` mends."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kubernetes_program import Program, configmap, deployment
from tools.kubernetes.api_client import ApiRefused, wait_until
from tools.kubernetes.commands import kube_apiserver
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.processes import Identity


@pytest.fixture
def program(tmp_path: Path, plane: ControlPlane) -> Iterator[Program]:
    made = Program(tmp_path / "kube", plane.kubeconfig.read_text())
    yield made
    assert made.destroy("--refresh").code == 0


def test_namespace_that_somebody_deleted_comes_back(program: Program, plane: ControlPlane) -> None:
    program.add("team", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lost"}})
    program.add("a", configmap("lost", "a", x="1"), options={"depends_on": ["team"]})
    assert program.up().code == 0
    plane.client.delete("/api/v1/namespaces/lost")

    def is_gone() -> bool:
        try:
            plane.client.get("/api/v1/namespaces/lost")
        except ApiRefused:
            return True
        return False

    wait_until("the namespace is gone", is_gone)
    program.document("a")["metadata"]["labels"] = {"k": "v"}
    blind = program.up()
    assert blind.code != 0
    blind.line("ConfigMap lost/a no longer exists, deleted outside of the program; run `pulumi up --refresh`")
    mended = program.up("--refresh")
    assert mended.code == 0, mended.text
    assert "2 created" in mended.text
    assert plane.client.get("/api/v1/namespaces/lost/configmaps/a")["data"] == {"x": "1"}


def test_what_the_api_server_refuses_is_one_line(program: Program, plane: ControlPlane, namespace: str) -> None:
    program.add("web", deployment(namespace, "web", replicas=-1))
    words = 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    for said in (program.preview(), program.up()):
        assert said.code != 0
        assert words in said.line("spec.replicas: Invalid value")
        assert "Traceback" not in said.text
    program.document("web")["spec"]["replicas"] = 0
    program.document("web")["spec"]["replica"] = 1
    misspelt = program.preview()
    assert misspelt.code != 0
    misspelt.line(".spec.replica: field not declared in schema")
    del program.document("web")["spec"]["replica"]
    program.add("lost", configmap("no-such-namespace", "a", x="1"))
    missing = program.up()
    assert missing.code != 0
    missing.line('namespaces "no-such-namespace" not found')
    del program.objects["lost"]
    program.add("cr", {"apiVersion": "nobody.example.org/v1", "kind": "Thing", "metadata": {"name": "t"}})
    preview = program.preview()
    assert preview.code == 0
    preview.line("nobody.example.org/v1/Thing: not verified: its CustomResourceDefinition does not exist (yet)")
    unknown = program.up()
    assert unknown.code != 0
    unknown.line('no matches for kind "Thing" in version "nobody.example.org/v1"; install its CustomResourceDefinition')
    del program.objects["cr"]


def test_not_ready_in_time_is_kept_and_the_next_up_goes_on(
    program: Program, plane: ControlPlane, namespace: str
) -> None:
    document = deployment(namespace, "web", replicas=1, nodeSelector={"no": "such-node"})
    document["metadata"]["annotations"] = {"pulumi.com/timeoutSeconds": "2"}
    program.add("web", document)
    began = time.monotonic()
    late = program.up()
    assert late.code != 0
    # Without the annotation it waits for ten minutes.
    assert time.monotonic() - began < 300
    line = late.line("is not ready after 2 s")
    assert f"Deployment {namespace}/web is not ready after 2 s: 0 of 1 pods available; web-" in line
    assert "didn't match Pod's node affinity/selector" in line
    assert program.state()["web"]["id"] == f"{namespace}/web"
    # Nothing changed in the program, and yet the next `up` waits again.
    assert "is not ready after 2 s" in program.up().text

    del document["spec"]["template"]["spec"]["nodeSelector"]
    document["metadata"]["annotations"] = {"pulumi.com/timeoutSeconds": "60"}
    mended = program.up()
    assert mended.code == 0, mended.text
    assert program.preview().unchanged

    document["spec"]["template"]["spec"]["nodeSelector"] = {"no": "such-node"}
    document["metadata"]["annotations"] = {"pulumi.com/skipAwait": "true"}
    unwatched = program.up()
    assert unwatched.code == 0, unwatched.text


def test_conflict_names_field_and_owner(program: Program, plane: ControlPlane, namespace: str) -> None:
    program.add("a", configmap(namespace, "a", x="1", y="1"), options={"ignore_changes": []})
    assert program.up().code == 0
    path = f"/api/v1/namespaces/{namespace}/configmaps/a"
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "theirs"}}
    forced = {"fieldManager": "somebody", "force": "true"}
    plane.client.request("PATCH", path, theirs, content="application/apply-patch+yaml", **forced)
    program.provider["enableConfigMapMutable"] = True
    program.document("a")["data"] = {"x": "ours", "y": "2"}
    refused = program.up()
    assert refused.code != 0
    refused.line(f"ConfigMap {namespace}/a: data.x: also set by somebody, which wants another value;")
    program.document("a")["metadata"]["annotations"] = {"pulumi.com/patchForce": "true"}
    assert program.up().code == 0
    assert plane.client.get(path)["data"] == {"x": "ours", "y": "2"}


def test_finalizer_that_nobody_takes_away_is_named(program: Program, plane: ControlPlane, namespace: str) -> None:
    document = configmap(namespace, "held", x="1")
    document["metadata"] |= {"finalizers": ["example.org/nobody"], "annotations": {"pulumi.com/timeoutSeconds": "2"}}
    program.add("held", document)
    assert program.up().code == 0
    stuck = program.destroy()
    assert stuck.code != 0
    line = stuck.line("is still there 2 s after it was to be deleted")
    assert f"ConfigMap {namespace}/held" in line
    assert "finalizers: example.org/nobody" in line
    path = f"/api/v1/namespaces/{namespace}/configmaps/held"
    plane.client.merge(path, {"metadata": {"finalizers": None}})
    assert program.destroy().code == 0


def test_job_that_fails_is_told_at_once(program: Program, plane: ControlPlane, namespace: str) -> None:
    template = {
        "metadata": {"annotations": {"rehearsal.gpufleet.dev/exit-code": "3"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry/job:1"}]},
    }
    document = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once", "namespace": namespace},
        "spec": {"backoffLimit": 0, "template": template},
    }
    program.add("once", document)
    failed = program.up()
    assert failed.code != 0
    failed.line(f"Job {namespace}/once: the job failed: BackoffLimitExceeded")
    # A template is immutable: the job is made anew, under its own name.
    template["metadata"]["annotations"]["rehearsal.gpufleet.dev/exit-code"] = "0"
    mended = program.up()
    assert mended.code == 0, mended.text
    assert "1 replaced" in mended.text


@pytest.mark.parametrize(
    ("type_", "document", "words"),
    [
        (
            "kubernetes:core/v1:ConfigMapList",
            {"apiVersion": "v1", "kind": "ConfigMapList", "items": []},
            "a list cannot be created; register each of its items by itself",
        ),
        (
            "kubernetes:core/v1:ConfigMap",
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-"}},
            "metadata.generateName: not supported by server-side apply",
        ),
        (
            "kubernetes:helm.sh/v3:Release",
            {"chart": "kueue", "version": ">=0.1", "values": ["a"]},
            "version='>=0.1': must be one version, such as 1.2.3, not a range",
        ),
        (
            "kubernetes:helm.sh/v3:Release",
            {"chart": "kueue", "version": "0.19.0", "values": ["a"]},
            "values: must be a mapping, not list",
        ),
        ("kubernetes:yaml:ConfigFile", {"kind": "x", "file": "a.yaml"}, "register each object by itself"),
    ],
)
def test_what_cannot_be_registered_is_one_line(program: Program, type_: str, document: dict, words: str) -> None:
    program.add("it", document, type=type_)
    refused = program.preview()
    assert refused.code != 0
    refused.line(words)
    assert "Traceback" not in refused.text
    program.objects.clear()


def test_kubeconfig_of_a_real_cluster_is_refused(program: Program) -> None:
    program.provider["kubeconfig"] = program.provider["kubeconfig"].replace("127.0.0.1", "10.9.8.7")
    program.add("a", configmap("default", "a", x="1"))
    refused = program.preview()
    assert refused.code != 0
    refused.line("is not on this machine; a rehearsal only changes a control plane of 127.0.0.1")
    assert "token" not in refused.text
    program.provider["kubeconfig"] = "clusters: {"
    refused = program.preview()
    assert refused.code != 0
    refused.line("kubeconfig: not YAML")
    program.provider.clear()
    program.objects.clear()


def test_api_server_that_goes_in_the_middle_of_a_wait(tmp_path: Path) -> None:
    plane = ControlPlane(tmp_path / "own")
    plane.start(owner=Identity.of(os.getpid()))
    try:
        program = Program(tmp_path / "kube", plane.kubeconfig.read_text())
        program.add("first", configmap("default", "first", x="1"))
        program.add(
            "web", deployment("default", "web", 1, nodeSelector={"no": "such"}), options={"depends_on": ["first"]}
        )
        program.add("last", configmap("default", "last", x="1"), options={"depends_on": ["web"]})
        up = program.begin("up", "--yes", "--skip-preview")

        def is_there() -> bool:
            return bool(plane.client.get("/apis/apps/v1/namespaces/default/deployments")["items"])

        wait_until("the deployment is there", is_there)
        # As when its machine fails: one that is told to end answers until it has.
        server = plane._processes.find("kube-apiserver")
        assert server
        os.kill(server.pid, signal.SIGKILL)
        plane._processes.stop(["kube-apiserver"])
        text, _ = up.communicate(timeout=600)
        assert up.returncode != 0
        assert "Traceback" not in text
        (line,) = {line.strip() for line in text.splitlines() if line.strip().startswith("* ")}
        assert "Deployment default/web was not ready yet (" in line
        assert "cannot be reached (connection refused); see that the control plane runs" in line
        assert set(program.state()) == {"first", "web"}

        gone = program.up()
        assert gone.code != 0
        gone.line("cannot be reached (connection refused)")
        preview = program.preview()
        assert preview.code == 0, preview.text
        preview.line("objects are only checked against the schemas of Kubernetes 1.34.0")
        assert preview.text.count("warning:") == 1

        # It comes back, and the same program is brought to its end.
        plane._launch("kube-apiserver", kube_apiserver(plane.layout))
        wait_until("the API server is back", plane._ready)
        program.document("web")["spec"]["template"]["spec"].pop("nodeSelector")
        mended = program.up()
        assert mended.code == 0, mended.text
        assert program.preview().unchanged
        assert {"first", "last"} <= set(_configmaps(plane))

        # Another, empty one in its place: everything is made anew, and what was on the old one has to be let go.
        plane.stop()
        plane.start(owner=Identity.of(os.getpid()))
        program.provider["kubeconfig"] = plane.kubeconfig.read_text()
        replaced = program.up()
        assert replaced.code != 0
        assert "if the cluster is gone for good, PULUMI_K8S_DELETE_UNREACHABLE=true forgets what was on it" in (
            replaced.text
        )
        assert {"first", "last"} <= set(_configmaps(plane))
        forgotten = program.up(env={"PULUMI_K8S_DELETE_UNREACHABLE": "true"})
        assert forgotten.code == 0, forgotten.text
        assert program.destroy().code == 0
        assert program.state() == {}
        assert not {"first", "last"} & set(_configmaps(plane))
    finally:
        plane.stop()


def _configmaps(plane: ControlPlane) -> list[str]:
    items = plane.client.get("/api/v1/namespaces/default/configmaps")["items"]
    return [item["metadata"]["name"] for item in items]
