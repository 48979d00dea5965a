"""Queues: flavors, quotas and the order in which they are made."""

import pytest

from gpufleet.kubernetes.queue import Queue
from tests.components.recorder import construct, refusal

API = "kueue.x-k8s.io/v1beta2"
FLAVORS = {"h100": {"gpu": "H100", "zone": "use1-az1"}, "a100": {"gpu": "A100", "zone": "use1-az2"}}
ARGS = {"flavors": FLAVORS, "quotas": {"vision": {"h100": 64}, "speech": {"h100": 16, "a100": 8}}}
TAINT = {"key": "nvidia.com/gpu", "value": "workers", "effect": "NoSchedule"}


def inputs(args, preview):
    recording = construct(lambda: Queue("gpus", args), preview)
    return recording, {each.name: each.inputs for each in recording.resources if each.custom}


def flavor(name: str, gpu: str, zone: str, **more: str) -> dict:
    labels = {"gpufleet.dev/gpu": gpu, "gpufleet.dev/zone-id": zone}
    spec = {"nodeLabels": labels, "nodeTaints": [TAINT], **more}
    return {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}


def quota(flavor: str, gpus: str) -> dict:
    limits = {
        "nvidia.com/gpu": gpus,
        "cpu": "1M",
        "memory": "10Pi",
        "hugepages-2Mi": "10Pi",
        "vpc.amazonaws.com/efa": "1M",
    }
    return {
        "name": flavor,
        "resources": [{"name": resource, "nominalQuota": limit} for resource, limit in limits.items()],
    }


def test_flavors_and_quotas(preview):
    recording, found = inputs(ARGS, preview)
    release = found.pop("gpus-release")
    assert (release["chart"], release["version"]) == ("oci://registry.k8s.io/kueue/charts/kueue", "0.19.2")
    assert (release["namespace"], release["name"]) == ("kueue-system", "kueue")
    resources = ["nvidia.com/gpu", "cpu", "memory", "hugepages-2Mi", "vpc.amazonaws.com/efa"]

    def cluster_queue(team: str, h100: str, a100: str) -> dict:
        flavors = [quota("gpus-h100", h100), quota("gpus-a100", a100), quota("gpus-cpu", "0")]
        spec = {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": team}},
            "queueingStrategy": "BestEffortFIFO",
            "resourceGroups": [{"coveredResources": resources, "flavors": flavors}],
        }
        return {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": f"gpus-{team}"}, "spec": spec}

    def local_queue(team: str) -> dict:
        metadata = {"name": "gpus", "namespace": team}
        return {
            "apiVersion": API,
            "kind": "LocalQueue",
            "metadata": metadata,
            "spec": {"clusterQueue": f"gpus-{team}"},
        }

    assert found == {
        "gpus-flavor-cpu": {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "gpus-cpu"}, "spec": {}},
        "gpus-flavor-h100": flavor("gpus-h100", "H100", "use1-az1"),
        "gpus-flavor-a100": flavor("gpus-a100", "A100", "use1-az2"),
        "gpus-quota-vision": cluster_queue("vision", "64", "0"),
        "gpus-quota-speech": cluster_queue("speech", "16", "8"),
        "gpus-queue-vision": local_queue("vision"),
        "gpus-queue-speech": local_queue("speech"),
    }
    assert recording.outputs["gpus"] == {"queue": "gpus"}


def test_where_kueue_runs_and_comes_from(preview):
    chosen = {"image": "registry.example.com/kueue", "node_selector": {"topology.kubernetes.io/region": "us-east-1"}}
    _, found = inputs(ARGS | chosen, preview)
    assert found["gpus-release"]["values"] == {
        "controllerManager": {
            "manager": {"image": {"repository": "registry.example.com/kueue"}},
            "nodeSelector": {"topology.kubernetes.io/region": "us-east-1"},
        }
    }
    _, found = inputs(ARGS, preview)
    assert found["gpus-release"]["values"] == {}


def test_order(preview):
    recording, _ = inputs(ARGS, preview)
    needs = {each.name: each.depends_on for each in recording.resources if each.custom}
    assert needs["gpus-flavor-h100"] == {"gpus-release"}
    assert needs["gpus-quota-vision"] == {"gpus-flavor-cpu", "gpus-flavor-h100", "gpus-flavor-a100"}
    assert needs["gpus-queue-vision"] == {"gpus-quota-vision"}


def test_topology(preview):
    recording, found = inputs(ARGS | {"topology_levels": ["example.com/spine", "example.com/rack"]}, preview)
    assert found["gpus-topology"] == {
        "apiVersion": API,
        "kind": "Topology",
        "metadata": {"name": "gpus"},
        "spec": {
            "levels": [
                {"nodeLabel": "gpufleet.dev/zone-id"},
                {"nodeLabel": "example.com/spine"},
                {"nodeLabel": "example.com/rack"},
                {"nodeLabel": "kubernetes.io/hostname"},
            ]
        },
    }
    assert found["gpus-flavor-h100"] == flavor("gpus-h100", "H100", "use1-az1", topologyName="gpus")
    assert found["gpus-flavor-cpu"]["spec"] == {}, "a flavor with a topology needs a label"
    needs = {each.name: each.depends_on for each in recording.resources if each.custom}
    assert (needs["gpus-topology"], needs["gpus-flavor-cpu"]) == ({"gpus-release"}, {"gpus-topology"})


def test_kueue_that_is_there_already(preview):
    recording, found = inputs(ARGS | {"install": False}, preview)
    assert "gpus-release" not in found
    assert recording.one(f"kubernetes:{API}:ResourceFlavor", "gpus-flavor-cpu").depends_on == frozenset()


def test_overflow_brings_one_program_that_may_do_what_it_needs(preview):
    overflow = {"capacity_timeout_minutes": 15, "pools": ["h100", "a100"]}
    recording, found = inputs(ARGS | {"overflow": overflow}, preview)
    assert found["gpus-overflow-role"]["rules"] == [
        {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs"], "verbs": ["list", "patch"]},
        {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["list", "patch"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "delete"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    ]
    pod = found["gpus-overflow-deployment"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert (container["image"], pod["serviceAccountName"]) == ("docker.io/library/python:3.13-alpine", "gpus-overflow")
    assert "def next_change(" in found["gpus-overflow-program"]["data"]["overflow.py"]
    needs = {each.name: each.depends_on for each in recording.resources if each.custom}
    assert needs["gpus-overflow-account"] == {"gpus-release"}
    assert needs["gpus-overflow-deployment"] == {"gpus-overflow-program"}

    own = overflow | {"image": "r.example.com/python"}
    _, found = inputs(ARGS | {"overflow": own, "node_selector": {"a": "b"}}, preview)
    pod = found["gpus-overflow-deployment"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "r.example.com/python:3.13-alpine"
    assert pod["nodeSelector"] == {"a": "b"}


def test_a_flavor_may_be_the_nodes_of_one_place_and_pool(preview):
    kind = FLAVORS["h100"] | {"place": "onprem", "pool": "lab-h100"}
    _, found = inputs({"flavors": {"h100": kind}, "quotas": {"vision": {"h100": 8}}}, preview)
    assert found["gpus-flavor-h100"]["spec"]["nodeLabels"] == {
        "gpufleet.dev/gpu": "H100",
        "gpufleet.dev/zone-id": "use1-az1",
        "gpufleet.dev/place": "onprem",
        "gpufleet.dev/pool": "lab-h100",
    }


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {"quotas": {"vision": {"H100": 8}}},
            "quotas.vision=H100: is not one of the flavors; did you mean h100? (use h100 or a100) [any-queue-flavor]",
        ),
        (
            {"quotas": {"vision": {"h100": -1}}},
            "quotas.vision.h100=-1: is below 0; use 0 or more [any-argument-least]",
        ),
        (
            {"flavors": FLAVORS | {"b200": {"gpu": "B200"}}},
            "flavors.b200=[gpu]: lacks zone; give gpu and zone as texts [any-queue-flavor-known]",
        ),
        (
            {"flavors": FLAVORS | {"cpu": FLAVORS["h100"]}},
            "flavors=cpu: is taken by the flavor for launchers; use another name, such as the GPU's "
            "[any-queue-flavor-name]",
        ),
        (
            {"overflow": {"capacity_timeout_minutes": 15, "pools": ["h10"]}},
            "overflow.pools=h10: is not an allowed value; did you mean h100? (use h100 or a100) [any-argument-word]",
        ),
        (
            {"overflow": {"capacity_timeout_minutes": 15, "pools": ["h100", "h100"]}},
            "overflow.pools=[h100, h100]: names h100 twice; name it once [any-argument-distinct]",
        ),
        ({"quotas": {}}, "quotas=[]: is empty; give at least one namespace [any-argument-not-empty]"),
    ],
)
def test_refuses(change, line, preview):
    assert refusal(lambda: Queue("gpus", ARGS | change), preview) == [f"gpus: {line}"]


def test_a_topology_without_levels_between(preview):
    for alike in ({"topology": True}, {"topology_levels": []}):
        _, found = inputs(ARGS | alike, preview)
        levels = [{"nodeLabel": "gpufleet.dev/zone-id"}, {"nodeLabel": "kubernetes.io/hostname"}]
        assert found["gpus-topology"]["spec"] == {"levels": levels}
