"""The provider of a cluster, and the names and types of objects."""

import pulumi
import pytest
from recorder import Secret, construct

from gpufleet.kubernetes.device_plugin import DevicePlugin
from gpufleet.kubernetes.objects import labelled, object_name, object_type
from gpufleet.kubernetes.provider import PROVIDER_VERSION, cluster_provider
from gpufleet_rehearsal.home import STAND_INS

PROVIDER = "pulumi:providers:kubernetes"


def test_provider(preview):
    recording = construct(lambda: cluster_provider("train", "{}"), preview)
    assert recording.inputs(PROVIDER) == {
        "train": {"kubeconfig": Secret("{}"), "deleteUnreachable": "true", "enableServerSideApply": "true"}
    }


def test_rehearsals_have_the_version_that_components_ask_for():
    """The engine looks for a plugin of this version."""
    assert STAND_INS["kubernetes"] == PROVIDER_VERSION


def test_children_of_a_component_go_to_its_cluster(preview):
    """The engine gets the provider with each object, by reference."""
    seen: dict[str, str] = {}

    def build() -> None:
        provider = cluster_provider("train", "{}")
        plugin = DevicePlugin("gpus", {}, pulumi.ResourceOptions(provider=provider))
        seen.update({key: value._name for key, value in plugin._providers.items()})

    construct(build, preview)
    assert seen == {"kubernetes": "train"}


@pytest.mark.parametrize(
    ("api", "kind", "type_", "name"),
    [
        ("v1", "Namespace", "kubernetes:core/v1:Namespace", "namespace-x"),
        ("apps/v1", "DaemonSet", "kubernetes:apps/v1:DaemonSet", "daemonset-x"),
        ("kubeflow.org/v2beta1", "MPIJob", "kubernetes:kubeflow.org/v2beta1:MPIJob", "mpijob-x"),
    ],
)
def test_type_and_name(api, kind, type_, name):
    document = {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}}
    assert (object_type(document), object_name(document)) == (type_, name)


def test_labels_of_an_object_win_and_it_is_left_alone():
    document = {"kind": "Pod", "metadata": {"name": "x", "labels": {"owner": "upstream"}}}
    assert labelled(document, {"owner": "ml", "project": "a"})["metadata"]["labels"] == {
        "owner": "upstream",
        "project": "a",
    }
    assert document["metadata"]["labels"] == {"owner": "upstream"}
    assert labelled({"metadata": {"name": "x"}}, {}) == {"metadata": {"name": "x"}}
