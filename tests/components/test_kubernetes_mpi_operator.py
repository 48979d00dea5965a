"""The MPI operator: a manifest taken apart, its checksum, closed networks, the other flavour."""

import hashlib
import urllib.error
import urllib.request
from pathlib import Path

import pulumi
import pytest

from gpufleet.kubernetes import remote_manifest
from gpufleet.kubernetes.mpi_operator import MpiOperator, known_checksums
from tests.components.recorder import construct, refusal
from tests.components.samples import MANIFEST

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
RELEASE = "kubernetes:helm.sh/v3:Release"


def test_each_object_is_a_resource(preview):
    recording = construct(lambda: MpiOperator("mpi", {**MANIFEST}), preview)
    assert [(each.type, each.name) for each in recording.resources if each.custom] == [
        ("kubernetes:core/v1:Namespace", "mpi-namespace-mpi-operator"),
        (
            "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
            "mpi-customresourcedefinition-mpijobs.kubeflow.org",
        ),
        ("kubernetes:core/v1:ServiceAccount", "mpi-serviceaccount-mpi-operator"),
        ("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "mpi-clusterrole-mpi-operator"),
        (DEPLOYMENT, "mpi-deployment-mpi-operator"),
    ]
    assert recording.one("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole").inputs == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "mpi-operator"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]}],
    }
    assert recording.outputs["mpi"] == {"api_version": "kubeflow.org/v2beta1"}


def test_the_controller_comes_last_and_goes_first(preview):
    recording = construct(lambda: MpiOperator("mpi", {**MANIFEST}), preview)
    namespace, definition = "mpi-namespace-mpi-operator", "mpi-customresourcedefinition-mpijobs.kubeflow.org"
    account, role = "mpi-serviceaccount-mpi-operator", "mpi-clusterrole-mpi-operator"
    assert {each.name: each.depends_on for each in recording.resources if each.custom} == {
        namespace: frozenset(),
        definition: frozenset(),
        account: {namespace, definition},
        role: {namespace, definition},
        "mpi-deployment-mpi-operator": {namespace, definition, account, role},
    }


def test_rules_that_the_cluster_puts_together_are_not_claimed(preview, tmp_path):
    role = """
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: mpijobs-admin}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: admin}}]}
rules: []
"""
    file = tmp_path / "operator.yaml"
    file.write_bytes(Path(MANIFEST["manifest"]).read_bytes() + role.encode())
    args = {"manifest": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    recording = construct(lambda: MpiOperator("mpi", args), preview)
    roles = recording.of("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole")
    assert {each.name: "rules" in each.inputs for each in roles} == {
        "mpi-clusterrole-mpi-operator": True,
        "mpi-clusterrole-mpijobs-admin": False,
    }


def test_image_of_a_registry_of_ones_own(preview):
    args = {**MANIFEST, "image": "registry.example.com/mpi-operator:0.7.0"}
    pod = construct(lambda: MpiOperator("mpi", args), preview).one(DEPLOYMENT).inputs["spec"]["template"]["spec"]
    assert pod.pop("securityContext") == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    (container,) = pod["containers"]
    health = {"path": "/healthz", "port": 8080}
    assert container == {
        "name": "mpi-operator",
        "image": "registry.example.com/mpi-operator:0.7.0",
        "args": [
            "--lock-namespace=mpi-operator",
            "--kube-api-qps=300",
            "--kube-api-burst=600",
            "--controller-queue-rate-limit=1000",
            "--controller-queue-burst=10000",
        ],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
        "livenessProbe": {"httpGet": health, "initialDelaySeconds": 15, "periodSeconds": 20, "timeoutSeconds": 5},
        "readinessProbe": {"httpGet": health, "periodSeconds": 10, "timeoutSeconds": 5},
    }


def test_what_the_manifest_says_of_its_container_stays(preview, tmp_path):
    file = tmp_path / "operator.yaml"
    more = b"args: [--lock-namespace=mpi-operator], resources: {requests: {cpu: 1}}, securityContext: {}"
    file.write_bytes(Path(MANIFEST["manifest"]).read_bytes().replace(b"args: [--lock-namespace=mpi-operator]", more))
    args = {"manifest": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    pod = construct(lambda: MpiOperator("mpi", args), preview).one(DEPLOYMENT).inputs["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (container["resources"], container["securityContext"]) == ({"requests": {"cpu": 1}}, {})
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": 8080}


def test_trainer_is_a_chart(preview):
    recording = construct(lambda: MpiOperator("mpi", {"flavour": "trainer"}), preview)
    assert recording.one(RELEASE, "mpi-release").inputs == {
        "chart": "oci://ghcr.io/kubeflow/charts/kubeflow-trainer",
        "version": "2.3.0",
        "name": "kubeflow-trainer",
        "namespace": "kubeflow-system",
        "createNamespace": True,
        "atomic": True,
        "timeout": 600,
        "values": {},
    }
    assert recording.outputs["mpi"] == {"api_version": "trainer.kubeflow.org/v1alpha1"}


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            {"flavour": "trainer", "implementations": ["OpenMPI", "MPICH"]},
            "flavour=trainer: has no runtime for MPICH; use flavour=mpi-operator, or implementations=[OpenMPI] "
            "[any-operator-trainer]",
        ),
        (
            {"flavour": "trainer", **MANIFEST},
            "flavour=trainer: comes as a chart, not as a manifest; leave manifest and sha256 out, or use "
            "flavour=mpi-operator [any-operator-trainer]",
        ),
        (
            {"version": "v0.6.0"},
            "version=v0.6.0: has a manifest whose checksum is not known; give sha256, or use v0.7.0 "
            "[any-operator-checksum-known]",
        ),
        (
            {**MANIFEST, "version": "master"},
            "version=master: is not one version; use three numbers, such as 0.20.0 [any-kubernetes-version-pinned]",
        ),
    ],
)
def test_refusals(args, line, preview):
    assert refusal(lambda: MpiOperator("mpi", args), preview) == [f"mpi: {line}"]


def test_a_changed_manifest_is_not_taken(preview):
    args = {**MANIFEST, "sha256": "0" * 64}
    assert refusal(lambda: MpiOperator("mpi", args), preview) == [
        f"mpi: {MANIFEST['manifest']}: its checksum is {MANIFEST['sha256']}, not sha256={'0' * 64}; somebody changed "
        "it, or the version is another: look at it before you take the new checksum"
    ]


def test_a_missing_file_is_said(preview):
    args = {"manifest": "nowhere/operator.yaml", "sha256": "0" * 64}
    line = "mpi: nowhere/operator.yaml: cannot be read: No such file or directory"
    assert refusal(lambda: MpiOperator("mpi", args), preview) == [line]


def test_an_object_that_the_sdk_cannot_register_is_said(tmp_path, preview):
    file = tmp_path / "operator.yaml"
    file.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, dta: {}}")
    args = {"manifest": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    with pytest.raises(pulumi.RunError) as caught:
        construct(lambda: MpiOperator("mpi", args), preview)
    assert str(caught.value) == (
        "mpi: configmap-x: dta: ConfigMap of v1 has no such field in pulumi_kubernetes; correct it, or apply this "
        "object by kubectl"
    )


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # A process reads each manifest once.
    remote_manifest.read_manifest.cache_clear()
    remote_manifest._answer.cache_clear()
    yield tmp_path / "gpufleet" / "manifests"
    remote_manifest.read_manifest.cache_clear()
    remote_manifest._answer.cache_clear()


class Answer:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, most: int) -> bytes:
        return self.content[:most]


def test_upstreams_manifest_is_fetched_once_by_version(cache, monkeypatch):
    content = b"{apiVersion: v1, kind: Namespace, metadata: {name: x}}"
    asked = []
    monkeypatch.setattr(urllib.request, "urlopen", lambda address, timeout: asked.append(address) or Answer(content))
    args = {"version": "v0.6.0", "sha256": hashlib.sha256(content).hexdigest()}
    for _ in range(2):
        recording = construct(lambda: MpiOperator("mpi", args), preview=True)
        assert recording.names("kubernetes:core/v1:Namespace") == ["mpi-namespace-x"]
    tag = "https://raw.githubusercontent.com/kubeflow/mpi-operator/v0.6.0/deploy/v2beta1/mpi-operator.yaml"
    assert asked == [tag]
    assert [path.name for path in cache.iterdir()] == [f"{args['sha256']}.yaml"]


def test_a_damaged_cache_is_fetched_again(cache, monkeypatch):
    content = b"{apiVersion: v1, kind: Namespace, metadata: {name: x}}"
    checksum = hashlib.sha256(content).hexdigest()
    cache.mkdir(parents=True)
    (cache / f"{checksum}.yaml").write_bytes(b"damaged")
    monkeypatch.setattr(urllib.request, "urlopen", lambda address, timeout: Answer(content))
    assert remote_manifest.read_manifest("https://example.com/x.yaml", checksum)[0]["kind"] == "Namespace"
    assert (cache / f"{checksum}.yaml").read_bytes() == content


UNREACHED = (
    "https://raw.githubusercontent.com/kubeflow/mpi-operator/v0.7.0/deploy/v2beta1/mpi-operator.yaml: cannot be "
    "fetched: no route; download it where there is a network and give the file's path"
)


@pytest.fixture
def unreached(cache, monkeypatch):
    """The addresses that were asked for, none of which answers."""
    asked = []

    def urlopen(address: str, timeout: float) -> None:
        asked.append(address)
        raise urllib.error.URLError("no route")

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    monkeypatch.delenv("GPUFLEET_REHEARSAL", raising=False)
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)
    return asked


@pytest.fixture
def rehearsed(monkeypatch):
    monkeypatch.setenv("GPUFLEET_REHEARSAL", "/p/.rehearsal")
    monkeypatch.setenv("PULUMI_BACKEND_URL", "file:///p/.rehearsal/backend?metadata=skip")


def test_without_a_network_one_line_says_what_to_do(unreached, preview):
    assert refusal(lambda: MpiOperator("mpi", {}), preview) == [f"mpi: {UNREACHED}"]
    assert len(unreached) == 1


def test_a_rehearsal_without_a_network_warns_and_goes_on(unreached, rehearsed, preview, monkeypatch):
    warned = []
    monkeypatch.setattr(pulumi.log, "warn", lambda line, resource=None: warned.append(line))
    recording = construct(lambda: MpiOperator("mpi", {}), preview)
    # Nothing that could be taken for the operator.
    assert [each.type for each in recording.resources if each.custom] == []
    assert recording.outputs["mpi"] == {"api_version": "kubeflow.org/v2beta1"}
    without = "this rehearsal is without the operator's objects, until it runs once with a network"
    assert warned == [f"mpi: {without}: {UNREACHED}"]
    # Checked before anything is registered, and then used: a network that drops packets is waited for once.
    assert len(unreached) == 1


def test_the_state_of_a_real_stack_gets_no_rehearsed_operator(unreached, rehearsed, preview, monkeypatch):
    """Somebody has logged in to the team's backend in a rehearsal's shell."""
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://states")
    assert refusal(lambda: MpiOperator("mpi", {}), preview) == [f"mpi: {UNREACHED}"]


def test_a_rehearsal_takes_no_changed_manifest_either(rehearsed, preview):
    (line,) = refusal(lambda: MpiOperator("mpi", {**MANIFEST, "sha256": "0" * 64}), preview)
    assert f"its checksum is {MANIFEST['sha256']}, not sha256={'0' * 64}" in line


def test_nothing_is_fetched_where_only_kept_manifests_are_wanted(cache, unreached, rehearsed, preview, monkeypatch):
    monkeypatch.setenv(remote_manifest.KEPT_ONLY, "1")
    assert construct(lambda: MpiOperator("mpi", {}), preview).names("kubernetes:core/v1:Namespace") == []
    assert unreached == []
    content = b"{apiVersion: v1, kind: Namespace, metadata: {name: x}}"
    cache.mkdir(parents=True)
    checksum = hashlib.sha256(content).hexdigest()
    (cache / f"{checksum}.yaml").write_bytes(content)
    recording = construct(lambda: MpiOperator("mpi", {"version": "v0.6.0", "sha256": checksum}), preview)
    assert recording.names("kubernetes:core/v1:Namespace") == ["mpi-namespace-x"]
    assert unreached == []


def test_a_manifest_of_any_size_is_not_read(cache, monkeypatch):
    monkeypatch.setattr(urllib.request, "urlopen", lambda address, timeout: Answer(b" " * (9 * 1024 * 1024)))
    with pytest.raises(remote_manifest.UserError, match="is larger than the 8 MiB that a manifest may be"):
        remote_manifest.read_manifest("https://example.com/x.yaml", "0" * 64)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a: [", "m: line 1: is not YAML: "),
        (b"\xff\xfe\x00", "m: line 1: is not UTF-8"),
        (b"", "m: holds no object"),
        (b"--- \n---", "m: holds no object"),
        (b"just a text", "m: document 1 must be an object with apiVersion, kind and metadata.name"),
        (
            b"{apiVersion: v1, kind: Namespace, metadata: {name: x}}\n---\n{kind: Pod}",
            "m: document 2 must be an object with apiVersion, kind and metadata.name",
        ),
        (b"{kind: List, items: [1]}", "m: document 1 must be an object with apiVersion, kind and metadata.name"),
    ],
)
def test_what_is_no_manifest(content, line):
    with pytest.raises(remote_manifest.UserError) as caught:
        remote_manifest.parse_manifest(content, "m")
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_known_checksums_are_checksums():
    assert known_checksums().keys() == {"v0.7.0"}
    assert all(len(checksum) == 64 for checksum in known_checksums().values())
