"""The program of an own cluster: what it registers from its configuration, and what it refuses before that."""

import pytest

from tests.components.recorder import Secret
from tests.unit.stacks.lab_environment import KUBECONFIG, RENTED, V100, program

PATCH = "kubernetes:core/v1:NodePatch"
TITAN = {"gpu": "TITAN-V", "gpus": 2, "nodes": ["gpu-3"], "zone": "hall-2"}


def test_nothing_is_made_in_a_cloud():
    made = program()
    kinds = {each.type.split(":")[0] for each in made.resources if each.custom}
    assert kinds == {"pulumi", "kubernetes"}


def test_nodes_are_labelled_by_type_and_place_like_those_of_clouds():
    made = program()
    assert made.names(PATCH) == ["lab-rented-rented-1", "lab-v100-gpu-1", "lab-v100-gpu-2"]
    assert made.one(PATCH, "lab-v100-gpu-1").inputs == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "gpu-1",
            "labels": {
                "gpufleet.dev/capacity": "own",
                "gpufleet.dev/gpu": "V100",
                "gpufleet.dev/network": "plain",
                "gpufleet.dev/place": "onprem",
                "gpufleet.dev/placement": "none",
                "gpufleet.dev/pool": "lab-v100",
                "gpufleet.dev/zone-id": "onprem",
                "nvidia.com/gpu.present": "true",
            },
        },
    }
    labels = made.one(PATCH, "lab-rented-rented-1").inputs["metadata"]["labels"]
    assert (labels["gpufleet.dev/place"], labels["gpufleet.dev/zone-id"]) == ("cloud", "cloud")


def test_a_node_more_or_less_leaves_the_others_as_they_are():
    before, after = program(), program(pools={"v100": V100 | {"nodes": ["gpu-2", "gpu-3"]}, "rented": RENTED})
    assert set(after.names(PATCH)) - set(before.names(PATCH)) == {"lab-v100-gpu-3"}
    assert set(before.names(PATCH)) - set(after.names(PATCH)) == {"lab-v100-gpu-1"}
    same = "lab-v100-gpu-2"
    assert before.one(PATCH, same) == after.one(PATCH, same)


def test_jobs_are_told_of_types_and_places():
    taint = {"key": "lab", "effect": "NO_SCHEDULE"}
    made = program(pools={"v100": V100 | {"taints": [taint]}, "titan": TITAN})
    pools = made.result["jobs"]["pools"]
    assert pools["v100"] == {
        "gpu": "V100",
        "gpus": 4,
        "place": "onprem",
        "zones": ["onprem"],
        "max": 2,
        "taints": [taint],
        "label": "lab-v100",
    }
    assert (pools["titan"]["gpu"], pools["titan"]["zones"]) == ("TITAN-V", ["hall-2"])
    plugin = made.one("kubernetes:apps/v1:DaemonSet", "lab-device-plugin-daemonset").inputs["spec"]["template"]["spec"]
    assert "lab" in {toleration["key"] for toleration in plugin["tolerations"]}


def test_the_volume_is_the_labs_own_server():
    volume = program().one("kubernetes:core/v1:PersistentVolume").inputs["spec"]
    assert volume["nfs"] == {"server": "10.0.0.5", "path": "/export/shared"}
    assert volume["persistentVolumeReclaimPolicy"] == "Retain"


def test_the_registrys_login_is_a_secret_of_the_teams_namespace():
    login = '{"auths": {"registry.lab:5000": {"username": "u", "password": "p"}}}'
    made = program(team={"docker_config": login, "namespace": "vision"}, repositories={"t": "registry.lab:5000/t"})
    secret = made.one("kubernetes:core/v1:Secret").inputs
    assert secret["metadata"]["namespace"] == "vision"
    assert secret["stringData"][".dockerconfigjson"].value == login
    account = made.one("kubernetes:core/v1:ServiceAccount", "lab-team-service-account").inputs
    assert account["imagePullSecrets"] == [{"name": "registry"}]
    assert made.result["registry_urls"] == {"t": "registry.lab:5000/t"}


def test_the_gpu_operator_takes_the_place_of_the_device_plugin():
    made = program(software=["gpu-operator", "mpi-operator"])
    (release,) = made.of("kubernetes:helm.sh/v3:Release")
    assert release.inputs["chart"] == "gpu-operator"
    plugins = [each.name for each in made.of("kubernetes:apps/v1:DaemonSet")]
    assert plugins == []


def test_a_queue_fills_own_servers_first():
    made = program(queue={})
    assert made.outputs["lab-queue"] == {"queue": "lab-queue"}
    (own,) = [each for each in made.resources if each.type.endswith(":LocalQueue")]
    assert own.inputs["metadata"] == {
        "name": "lab-queue",
        "namespace": "training",
        "labels": {
            "gpufleet.dev/stack": "project-lab",
            "gpufleet.dev/environment": "lab",
            "gpufleet.dev/owner": "team",
            "gpufleet.dev/project": "training",
        },
    }
    (queue,) = [each for each in made.resources if each.type.endswith(":ClusterQueue")]
    flavors = queue.inputs["spec"]["resourceGroups"][0]["flavors"]
    gpus = {each["name"]: each["resources"][0]["nominalQuota"] for each in flavors}
    assert gpus == {"lab-queue-v100": "8", "lab-queue-rented": "8", "lab-queue-cpu": "0"}
    assert list(gpus)[:2] == ["lab-queue-v100", "lab-queue-rented"]
    (flavor,) = [each for each in made.resources if each.name == "lab-queue-flavor-rented"]
    assert flavor.inputs["spec"]["nodeLabels"] == {
        "gpufleet.dev/gpu": "V100",
        "gpufleet.dev/place": "cloud",
        "gpufleet.dev/pool": "lab-rented",
        "gpufleet.dev/zone-id": "cloud",
    }
    other = program(queue={"order": ["rented"]})
    (queue,) = [each for each in other.resources if each.type.endswith(":ClusterQueue")]
    first = queue.inputs["spec"]["resourceGroups"][0]["flavors"][0]
    assert first["name"] == "lab-queue-rented"


FLATTEN = "set it with `kubectl config view --minify --flatten | pulumi config set --secret gpufleet:kubeconfig`"
REFUSED = {
    "a node in two pools": (
        {"pools": {"v100": V100, "titan": V100 | {"nodes": ["gpu-2"]}}},
        "lab: nodes=gpu-2: is in pools v100 and titan; leave it in one of them [any-node-pool]",
    ),
    "no name of a node": (
        {"pools": {"v100": V100 | {"nodes": ["GPU 1"]}}},
        "lab-v100: nodes=GPU 1: is not a valid node name; use names as `kubectl get nodes` prints them [any-node-name]",
    ),
    "the word for every place": (
        {"pools": {"v100": V100 | {"place": "any"}}},
        "lab-v100: place=any: is reserved for every place; use another name, such as onprem [any-node-place]",
    ),
    "a kubeconfig of one machine": (
        {
            "kubeconfig": KUBECONFIG.replace('"token": "t"', '"client-certificate": "/home/me/c.crt"').join(
                ["# l\n", ""]
            )
        },
        f"lab: kubeconfig=[secret]: names a file (client-certificate); {FLATTEN} [any-kubeconfig-whole]",
    ),
    "a path instead of a kubeconfig": (
        {"kubeconfig": "~/.kube/config"},
        f"lab: kubeconfig=[secret]: is not a kubeconfig: must be an object, not text; {FLATTEN} [any-kubeconfig-whole]",
    ),
    "two device plugins": (
        {"software": ["gpu-operator", "device-plugin"]},
        "lab: software=[gpu-operator, device-plugin]: installs the device plugin twice; leave one of the two out "
        "[any-gpu-plugin-once]",
    ),
    "an order of what is no pool": (
        {"queue": {"order": ["v10"]}},
        "lab: queue.order=v10: is not an allowed value; did you mean v100? (use v100 or rented) [any-argument-word]",
    ),
    "an hour that brings money": (
        {"usd_per_gpu_hour": {"v100": -0.5}},
        "lab: usd_per_gpu_hour.v100=-0.5: is below 0; use 0 or more [any-argument-least]",
    ),
    "no NFS server": (
        {"nfs": "/export/shared"},
        (
            "lab-volume: source.nfs=/export/shared: does not have the required form; write server:/directory "
            "[any-volume-place-known]"
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_before_anything_is_made(case):
    changes, line = REFUSED[case]
    assert line in program.refusal(**changes)


def test_the_kubeconfig_is_a_secret_output():
    assert program().result["kubeconfig"] == Secret(f"# lab\n{KUBECONFIG}")


def test_without_a_kubeconfig_it_says_how_to_set_it():
    assert program.refusal(kubeconfig=None) == [
        "Pulumi.lab.yaml: gpufleet:kubeconfig: missing; set it with "
        "`pulumi config set --path 'gpufleet:kubeconfig' VALUE` [config-missing-key]"
    ]
