"""The provider of a cluster, and how objects go to it."""

from importlib.metadata import version

import pulumi

from gpufleet.kubernetes.device_plugin import DevicePlugin
from gpufleet.kubernetes.provider import cluster_provider
from gpufleet_rehearsal.workspace import SIMULATED_PROVIDERS
from tests.components.recorder import Secret, construct

PROVIDER = "pulumi:providers:kubernetes"


def test_provider(preview):
    recording = construct(lambda: cluster_provider("train", "{}"), preview)
    assert recording.inputs(PROVIDER) == {
        "train": {"kubeconfig": Secret("{}"), "deleteUnreachable": "true", "enableServerSideApply": "true"}
    }


def test_rehearsals_have_the_version_that_components_ask_for():
    """The engine looks for a plugin of the SDK's own version."""
    assert SIMULATED_PROVIDERS["kubernetes"] == version("pulumi-kubernetes")


def test_children_of_a_component_go_to_its_cluster(preview):
    """The engine gets the provider with each object, by reference."""
    seen: dict[str, str] = {}

    def build() -> None:
        provider = cluster_provider("train", "{}")
        plugin = DevicePlugin("gpus", {}, pulumi.ResourceOptions(provider=provider))
        seen.update({key: value._name for key, value in plugin._providers.items()})

    construct(build, preview)
    assert seen == {"kubernetes": "train"}
