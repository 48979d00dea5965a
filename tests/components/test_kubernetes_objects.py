"""Objects as data become resources of the SDK: their types and names, and inputs that arrive as they are written."""

from pkgutil import resolve_name

import pulumi
import pulumi_kubernetes as kubernetes
import pytest

from gpufleet.errors import UserError
from gpufleet.kubernetes.objects import kubernetes_object, labelled, object_name, object_type, sdk_class
from tests.components.recorder import UNKNOWN, Recording, Secret, construct

SCHEMA = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "x-kubernetes-validations": [{"rule": "self == oldSelf", "messageExpression": "'x'"}],
    "properties": {
        "_": {"type": "string"},
        "_ref": {"type": "string", "$ref": "#/definitions/x"},
        "api_version": {"not": {"type": "string"}, "enum": ["a", 1, 2.5, True]},
        "default": {"type": "object", "default": {"match_labels": {"a-b": [1, {"x_y": 2}]}}},
        "items": {"type": "array", "items": {"additionalProperties": {"x-kubernetes-int-or-string": True}}},
        "not": {"anyOf": [{"type": "integer"}], "x-kubernetes-list-map-keys": ["a_b"], "exclusiveMinimum": True},
        "x_kubernetes_map_type": {"patternProperties": {"^a_b": {"nullable": False}}},
    },
}
ODD = {"a_b": "1", "c-d.e/f": "2", "api_version": "3", "match_labels": "4", "items": "5"}
"""Names of labels and data that look like names of the SDK."""
POD = {
    "hostIPC": False,
    "containers": [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}, "ports": [{"hostIP": "10.0.0.1"}]}],
    "volumes": [{"name": "b", "downwardAPI": {"items": [{"path": "c"}]}}, {"name": "d", "csi": {"driver": "e"}}],
}


def document(api: str, kind: str, **fields: object) -> dict[str, object]:
    metadata = {"name": "x", "namespace": "n", "labels": ODD, "annotations": ODD}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def made(given: dict[str, object], preview: bool) -> Recording[pulumi.CustomResource]:
    return construct(lambda: kubernetes_object("mine", given, pulumi.ResourceOptions()), preview)


@pytest.mark.parametrize(
    ("api", "kind", "type_", "class_"),
    [
        ("v1", "Namespace", "kubernetes:core/v1:Namespace", "core.v1:Namespace"),
        ("apps/v1", "DaemonSet", "kubernetes:apps/v1:DaemonSet", "apps.v1:DaemonSet"),
        ("rbac.authorization.k8s.io/v1", "Role", "kubernetes:rbac.authorization.k8s.io/v1:Role", "rbac.v1:Role"),
        ("kubeflow.org/v2beta1", "MPIJob", "kubernetes:kubeflow.org/v2beta1:MPIJob", None),
        # Their groups or versions begin as those of the SDK.
        ("apps.example.com/v1", "DaemonSet", "kubernetes:apps.example.com/v1:DaemonSet", None),
        ("batch.volcano.sh/v1alpha1", "Job", "kubernetes:batch.volcano.sh/v1alpha1:Job", None),
        ("networking.k8s.io/v1", "Later", "kubernetes:networking.k8s.io/v1:Later", None),
    ],
)
def test_type_name_and_class(api, kind, type_, class_):
    given = {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}}
    assert (object_type(given), object_name(given)) == (type_, f"{kind.lower()}-x")
    assert sdk_class(given) is (class_ and resolve_name(f"pulumi_kubernetes.{class_}"))


@pytest.mark.parametrize(
    "given",
    [
        document("v1", "ConfigMap", data=ODD, binaryData={"a_b": "AA=="}, immutable=True),
        document("v1", "Secret", type="Opaque", stringData=ODD),
        document("v1", "Service", spec={"externalIPs": ["10.0.0.1"], "selector": ODD, "ports": [{"nodePort": 30000}]}),
        document("apps/v1", "Deployment", spec={"selector": {"matchLabels": ODD}, "template": {"spec": POD}}),
        document("kubeflow.org/v2beta1", "MPIJob", spec={"a_b": {"api_version": [POD]}, "_": 1, "$ref": ODD}),
        document("storage.k8s.io/v1", "StorageClass", provisioner="p", parameters=ODD),
        document(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            aggregationRule={"clusterRoleSelectors": [{"matchLabels": ODD}]},
            rules=[{"nonResourceURLs": ["/a"], "verbs": ["get"]}],
        ),
        document(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            spec={"names": {"shortNames": ["a"]}, "versions": [{"schema": {"openAPIV3Schema": SCHEMA}}]},
        ),
    ],
    ids=lambda given: given["kind"],
)
def test_inputs_arrive_as_they_are_written(given, preview):
    recording = made({**given, "status": {"conditions": []}}, preview)
    assert recording.one(object_type(given), "mine").inputs == given
    assert type(recording.result) is (sdk_class(given) or kubernetes.apiextensions.CustomResource)


def test_only_what_is_secret_of_a_secret_is_hidden(preview):
    """The SDK's class makes one secret of all its data, which a preview then shows nothing of."""
    data = {"open": "a", "hidden": pulumi.Output.secret("b"), "later": pulumi.Output.from_input(None)}

    def build() -> None:
        files = kubernetes.core.v1.Namespace("files", metadata={"name": "n"})
        given = document("v1", "Secret", stringData={**data, "later": files.id})
        kubernetes_object("mine", given, pulumi.ResourceOptions())

    later = UNKNOWN if preview else "files-id"
    inputs = construct(build, preview).one("kubernetes:core/v1:Secret").inputs
    assert inputs["stringData"] == {"open": "a", "hidden": Secret("b"), "later": later}


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (document("v1", "Nothing"), "nothing-x: v1 has no kind Nothing; correct apiVersion or kind"),
        (
            document("v1", "ConfigMap", dta={}, more={}),
            "configmap-x: dta, more: ConfigMap of v1 has no such field in pulumi_kubernetes; correct it, or apply this "
            "object by kubectl",
        ),
        (
            document("example.com/v1", "Issuer", data={}),
            "issuer-x: data: Issuer of example.com/v1 has no such field in pulumi_kubernetes; correct it, or apply "
            "this object by kubectl",
        ),
        (
            document("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            "customresourcedefinition-x: Missing required property 'spec'; add it",
        ),
    ],
)
def test_what_the_sdk_cannot_register_is_refused(given, line, preview):
    with pytest.raises(UserError) as caught:
        made(given, preview)
    assert str(caught.value) == line


def test_labels_of_an_object_win_and_it_is_left_alone():
    document = {"kind": "Pod", "metadata": {"name": "x", "labels": {"owner": "upstream"}}}
    assert labelled(document, {"owner": "ml", "project": "a"})["metadata"]["labels"] == {
        "owner": "upstream",
        "project": "a",
    }
    assert document["metadata"]["labels"] == {"owner": "upstream"}
    assert labelled({"metadata": {"name": "x"}}, {}) == {"metadata": {"name": "x"}}
