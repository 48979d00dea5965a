"""The stand-in for the kubernetes provider through the real engine: a whole life of objects on a real control plane."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kubernetes_program import Program, configmap, definition, deployment
from tools.kubernetes.api_client import ApiRefused
from tools.kubernetes.control_plane import ControlPlane


def gone(plane: ControlPlane, path: str) -> bool:
    try:
        plane.client.get(path)
    except ApiRefused as refused:
        return refused.code == 404
    return False


@pytest.fixture
def program(tmp_path: Path, plane: ControlPlane) -> Iterator[Program]:
    made = Program(tmp_path / "kube", plane.kubeconfig.read_text())
    yield made
    assert made.destroy().code == 0


def test_life_of_workloads(program: Program, plane: ControlPlane) -> None:
    program.add("team", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "life"}})
    after = {"options": {"depends_on": ["team"]}}
    program.add("settings", configmap("life", a="1"), **after)
    program.add("web", deployment("life", "web"), **after)
    selector = {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
    program.add(
        "door", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "life"}, **selector},
        **after,
    )  # fmt: skip

    preview = program.preview()
    assert preview.code == 0, preview.text
    assert gone(plane, "/api/v1/namespaces/life")

    up = program.up()
    assert up.code == 0, up.text
    web = plane.client.get("/apis/apps/v1/namespaces/life/deployments/web")
    assert web["status"]["availableReplicas"] == 2
    (manager,) = {f["manager"] for f in web["metadata"]["managedFields"] if f["operation"] == "Apply"}
    assert manager.startswith("pulumi-kubernetes-")
    state = program.state()
    assert state["web"]["outputs"]["status"]["availableReplicas"] == 2
    assert state["web"]["id"] == "life/web"
    assert state["team"]["id"] == "life"
    named = state["settings"]["outputs"]["metadata"]
    assert named["name"].startswith("settings-")
    assert len(named["name"]) == len("settings-") + 8
    assert named["annotations"] == {"pulumi.com/autonamed": "true"}

    assert program.preview().unchanged
    assert program.run("refresh", "--yes", "--skip-preview").code == 0
    assert program.preview().unchanged

    # In place: two replicas more, the same object.
    program.document("web")["spec"]["replicas"] = 4
    changed = program.up("--diff")
    assert "1 updated" in changed.text, changed.text
    after_change = plane.client.get("/apis/apps/v1/namespaces/life/deployments/web")
    assert after_change["metadata"]["uid"] == web["metadata"]["uid"]
    assert after_change["status"]["availableReplicas"] == 4

    # A field that is left out goes away.
    program.document("web")["metadata"]["labels"] = {"tier": "front"}
    assert program.up().code == 0
    del program.document("web")["metadata"]["labels"]
    assert program.up().code == 0
    assert "labels" not in plane.client.get("/apis/apps/v1/namespaces/life/deployments/web")["metadata"]

    # Replaced: a selector is immutable, and the name is fixed, so the old one goes first.
    spec = program.document("web")["spec"]
    spec["selector"]["matchLabels"] = spec["template"]["metadata"]["labels"] = {"app": "web", "v": "2"}
    preview = program.preview()
    assert preview.code == 0, preview.text
    assert "1 to replace" in preview.text
    replaced = program.up()
    assert replaced.code == 0, replaced.text
    assert "1 replaced" in replaced.text
    new = plane.client.get("/apis/apps/v1/namespaces/life/deployments/web")
    assert new["metadata"]["uid"] != web["metadata"]["uid"]

    # Replaced: data of a ConfigMap; its name is made by us, so the new one comes first, under another name.
    program.document("settings")["data"] = {"a": "2"}
    assert program.up().code == 0
    maps = plane.client.get("/api/v1/namespaces/life/configmaps")["items"]
    (made,) = [m for m in maps if m["metadata"]["name"].startswith("settings-")]
    assert made["data"] == {"a": "2"}
    assert made["metadata"]["name"] != named["name"]

    destroyed = program.destroy()
    assert destroyed.code == 0, destroyed.text
    assert program.state() == {}
    assert gone(plane, "/api/v1/namespaces/life")


def test_definition_and_an_object_of_it_in_one_program(program: Program, plane: ControlPlane) -> None:
    program.add("crd", definition())
    program.add(
        "job",
        {
            "apiVersion": "example.org/v1",
            "kind": "TrainJob",
            "metadata": {"name": "j", "namespace": "default"},
            "spec": {"workers": 2},
        },
        options={"depends_on": ["crd"]},
    )
    # Neither is there: the object is judged by the definition in the same program.
    program.document("job")["spec"] = {"workers": "two", "gpus": 1}
    preview = program.preview()
    assert preview.code != 0
    assert 'spec.workers: "two" is not of type integer' in preview.text
    assert "spec: unknown field gpus; legal are: workers" in preview.text

    program.document("job")["spec"] = {"workers": 2}
    assert program.preview().code == 0
    up = program.up()
    assert up.code == 0, up.text
    assert plane.client.get("/apis/example.org/v1/namespaces/default/trainjobs/j")["spec"] == {"workers": 2}
    assert program.preview().unchanged

    # Now the API server itself judges, by the same words as kubectl's.
    program.document("job")["spec"] = {"workers": 0}
    refused = program.up()
    assert refused.code != 0
    assert "spec.workers: Invalid value: 0: spec.workers in body should be greater than or equal to 1" in refused.text

    program.document("job")["spec"] = {"workers": 3}
    schema = program.document("crd")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    schema["properties"]["gpus"] = {"type": "integer"}
    changed = program.up()
    assert changed.code == 0, changed.text
    assert "2 updated" in changed.text

    assert program.destroy().code == 0
    assert gone(plane, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/trainjobs.example.org")


def test_import_takes_an_object_as_it_is(program: Program, plane: ControlPlane, namespace: str) -> None:
    plane.client.apply(configmap(namespace, "theirs", a="1"))
    program.add("theirs", configmap(namespace, "theirs", a="1"), options={"import_": f"{namespace}/theirs"})
    up = program.up()
    assert up.code == 0, up.text
    assert "1 imported" in up.text
    assert program.state()["theirs"]["id"] == f"{namespace}/theirs"
    program.objects["theirs"]["options"] = {}
    assert program.preview().unchanged

    missing = {"options": {"import_": f"{namespace}/nothing"}}
    program.add("nothing", configmap(namespace, "nothing"), **missing)
    refused = program.up()
    assert refused.code != 0
    assert f"resource '{namespace}/nothing' does not exist" in refused.text
    del program.objects["nothing"]


def test_secret_is_never_in_plain_text(program: Program, plane: ControlPlane, namespace: str) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": namespace}}
    program.add("s", secret | {"stringData": {"password": "hunter2"}}, secrets=["stringData"])
    up = program.up("--diff")
    assert up.code == 0, up.text
    stored = plane.client.get(f"/api/v1/namespaces/{namespace}/secrets/s")
    assert stored["data"] == {"password": "aHVudGVyMg=="}
    state = next((program.home.root / "backend").rglob("dev.json")).read_text()
    for told in (up.text, state):
        assert "hunter2" not in told
        assert "aHVudGVyMg==" not in told
    assert program.preview().unchanged


def test_patch_owns_its_fields_and_gives_them_up(program: Program, plane: ControlPlane, namespace: str) -> None:
    program.add(
        "labels",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": {"team": "vision"}}},
        type="kubernetes:core/v1:NamespacePatch",
    )
    up = program.up()
    assert up.code == 0, up.text
    assert plane.client.get(f"/api/v1/namespaces/{namespace}")["metadata"]["labels"]["team"] == "vision"
    assert program.preview().unchanged
    assert program.destroy().code == 0
    assert "team" not in plane.client.get(f"/api/v1/namespaces/{namespace}")["metadata"]["labels"]
