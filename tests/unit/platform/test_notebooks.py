"""A hub for each team of a platform: what notebooks are told of pools, prices, users and host."""

from typing import Any
from unittest.mock import Mock

import pulumi
import pytest

from gpufleet.kubernetes.notebook_profiles import plan_profiles
from gpufleet.kubernetes.notebooks import NotebooksArgs
from gpufleet.platform import TrainingPlatform
from gpufleet.platform.notebooks import notebook_pools
from gpufleet.rules import validate_arguments
from gpufleet.rules.kubernetes.notebooks import validate_notebooks
from tests.components.recorder import construct

CLOUD = {"types": ["g5.12xlarge"], "zones": ["use1-az1"], "max": 2, "label": "dev-a10g"}
OWN = {"gpu": "V100", "gpus": 4, "place": "onprem", "zones": ["onprem"], "max": 2, "label": "dev-v100"}
USERS = {"ana": {"uid": 1501, "gid": 1501}}
IMAGE = "registry.example.com/notebook:1"
PLATFORM: dict[str, Any] = {
    "environment": "lab-dev",
    "project": "training",
    "pools": {"a10g": CLOUD, "v100": OWN},
    "files": {"nfs": "10.0.0.5:/export/shared"},
    "software": [],
    "cloud": "aws",
    "region": "us-east-1",
}
OUTPUTS = ("volume_claim", "pull_secret", "jobs", "opts")
"""Arguments that are only known once the team's namespace is made."""


@pytest.fixture
def hubs(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Stands for the component; its calls hold the arguments of each hub."""
    component = Mock()
    component.return_value = Mock(address="https://hub.example.com", port_forward="")
    monkeypatch.setattr("gpufleet.platform.training_platform.Notebooks", component)
    return component


def made(hubs: Mock, **changes: object) -> dict[str, dict[str, Any]]:
    """The plain arguments of the hub of each team, by their names."""
    notebooks = {"host": "hub.example.com", "images": [IMAGE], **changes.pop("notebooks", {})}
    args = {**PLATFORM, "notebooks": notebooks, **changes}
    construct(lambda: TrainingPlatform("lab-dev", **args), preview=True)
    return {
        name: {key: value for key, value in call.kwargs.items() if key not in OUTPUTS}
        for call in hubs.call_args_list
        for name in call.args
    }


def test_arguments_are_those_of_the_component(hubs):
    found = made(
        hubs,
        notebooks={"idle_minutes": 30, "tls": {"secret": "hub-tls"}},
        team={"namespace": "vision", "users": USERS},
        usd_per_gpu_hour={"v100": 0.2},
        labels={"gpufleet.dev/owner": "team"},
        cloud="",
    )
    assert found == {
        "lab-dev-notebooks": {
            "host": "hub.example.com",
            "images": [IMAGE],
            "idle_minutes": 30,
            "tls": {"secret": "hub-tls"},
            "users": USERS,
            "environment": "lab-dev",
            "namespace": "vision",
            "labels": {"gpufleet.dev/environment": "lab-dev"},
            "object_labels": {"gpufleet.dev/owner": "team"},
            "taints": [],
            "pools": {
                "a10g": {"gpu": "A10G", "gpus": 4, "place": "cloud"},
                "v100": {"gpu": "V100", "gpus": 4, "place": "onprem", "usd_per_hour": 0.8},
            },
        }
    }
    args = {**found["lab-dev-notebooks"], "storage_class": "gp3"}
    findings = [
        *validate_arguments({**args, "volume_claim": "shared", "jobs": {}}, NotebooksArgs),
        *validate_notebooks(args),
    ]
    assert [each.line("notebooks") for each in findings if each.rejects] == []


def test_a_hub_pulls_with_the_login_of_its_team_and_says_why_it_is_there(hubs):
    login = {"team": {"docker_config": '{"auths": {"r.example.com": {"auth": "dTpw"}}}'}}
    (found,) = made(hubs, purpose="a paper", **login).values()
    assert found["purpose"] == "a paper"
    assert isinstance(hubs.call_args.kwargs["pull_secret"], pulumi.Output)
    (found,) = made(hubs).values()
    assert "purpose" not in found
    assert "pull_secret" not in hubs.call_args.kwargs


def test_each_of_several_teams_has_a_host_and_pools_of_its_own(hubs):
    teams = {"vision": {"users": USERS, "gid": 3000, "pools": ["a10g"]}, "speech": {}}
    found = made(hubs, teams=teams, cloud="")
    assert {name: (hub["host"], hub["namespace"], list(hub["pools"])) for name, hub in found.items()} == {
        "lab-dev-notebooks-vision": ("vision.hub.example.com", "vision", ["a10g", "v100"]),
        "lab-dev-notebooks-speech": ("speech.hub.example.com", "speech", ["v100"]),
    }
    assert (found["lab-dev-notebooks-vision"]["users"], found["lab-dev-notebooks-vision"]["gid"]) == (USERS, 3000)
    assert not {"users", "gid"} & set(found["lab-dev-notebooks-speech"])
    assert found["lab-dev-notebooks-speech"]["labels"] == {
        "gpufleet.dev/environment": "lab-dev",
        "gpufleet.dev/team": "speech",
    }


def test_names_that_a_researcher_sees():
    pools = notebook_pools({"a10g": CLOUD, "v100": OWN}, {}, "aws", "us-east-1")
    assert [each["display_name"] for each in plan_profiles(pools, [IMAGE], {})] == [
        "No GPU",
        "1 x V100, onprem, price unknown",
        "2 x V100, onprem, price unknown",
        "4 x V100, onprem, price unknown",
        "1 x A10G, cloud, 1.42 USD/h",
        "2 x A10G, cloud, 2.84 USD/h",
        "4 x A10G, cloud, 5.67 USD/h",
    ]


def test_pools_whose_nodes_nobody_can_tell_apart_are_left_out():
    mixed = {**CLOUD, "types": ["g5.xlarge", "g4dn.xlarge"]}
    unknown = {**CLOUD, "types": ["x9.huge"]}
    assert notebook_pools({"mixed": mixed, "unknown": unknown}, {}, "aws", "us-east-1") == {}


def test_several_types_of_one_model_have_the_fewest_gpus_and_the_dearest_price():
    both = {**CLOUD, "types": ["g5.xlarge", "g5.12xlarge"], "taints": [{"key": "a", "effect": "NO_SCHEDULE"}]}
    [pool] = notebook_pools({"both": both}, {}, "aws", "us-east-1").values()
    assert pool == {"gpu": "A10G", "gpus": 1, "place": "cloud", "usd_per_hour": 5.672, "taints": both["taints"]}


@pytest.mark.parametrize(
    ("cloud", "region"), [("aws", None), ("onprem", None), ("aws", "nowhere-1"), ("", "us-east-1")]
)
def test_a_price_that_is_not_known_is_left_out(cloud, region):
    assert "usd_per_hour" not in notebook_pools({"a10g": CLOUD}, {}, cloud, region)["a10g"]


EBS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "gpufleet-notebooks", "labels": {"gpufleet.dev/owner": "team"}},
    "provisioner": "ebs.csi.aws.com",
    "parameters": {
        "type": "gp3",
        "encrypted": "true",
        "tagSpecification_1": "environment=lab-dev",
        "tagSpecification_2": "project=training",
    },
    "volumeBindingMode": "WaitForFirstConsumer",
    "allowVolumeExpansion": True,
}


@pytest.mark.parametrize(
    ("cluster", "hub", "chosen", "classes"),
    [
        ({"cloud": "aws", "ebs_driver": True}, {}, "gpufleet-notebooks", [EBS]),
        ({"cloud": "aws", "ebs_driver": True}, {"storage_class": "fast"}, "fast", []),
        ({"cloud": "aws", "ebs_driver": True}, {"database": "memory"}, None, []),
        ({"cloud": "aws"}, {}, None, []),
        ({"cloud": "azure", "region": "eastus"}, {}, "managed-csi", []),
        ({"cloud": "azure", "region": "eastus"}, {"storage_class": "fast"}, "fast", []),
        ({"cloud": ""}, {}, None, []),
    ],
)
def test_storage_class_of_a_hubs_database(hubs, cluster, hub, chosen, classes):
    notebooks = {"host": "hub.example.com", "images": [IMAGE], **hub}
    args = {**PLATFORM, **cluster, "notebooks": notebooks, "labels": {"gpufleet.dev/owner": "team"}}
    recording = construct(lambda: TrainingPlatform("lab-dev", **args), preview=True)
    assert hubs.call_args.kwargs.get("storage_class") == chosen
    assert [each.inputs for each in recording.of("kubernetes:storage.k8s.io/v1:StorageClass")] == classes


TAINT = {"key": "team", "effect": "NO_SCHEDULE"}


def test_hub_and_notebooks_of_a_joined_cluster_are_on_one_side(hubs):
    pools = {"a10g": CLOUD | {"taints": [{"key": "spot", "effect": "NO_SCHEDULE"}]}, "v100": OWN | {"taints": [TAINT]}}
    (found,) = made(hubs, pools=pools, ebs_driver=True).values()
    assert found["node_selector"] == {"topology.kubernetes.io/region": "us-east-1"}
    assert "taints" not in found
    assert (list(found["pools"]), found["storage_class"]) == (["a10g"], "gpufleet-notebooks")
    hubs.reset_mock()
    (found,) = made(hubs, pools=pools, ebs_driver=True, notebooks={"place": "onprem"}).values()
    assert (found["node_selector"], found["taints"]) == ({"gpufleet.dev/place": "onprem"}, [TAINT])
    assert list(found["pools"]) == ["v100"]
    assert not {"storage_class", "place"} & set(found)


def test_hub_among_own_servers_tolerates_them(hubs):
    (found,) = made(hubs, cloud="", pools={"v100": OWN | {"taints": [TAINT]}}).values()
    assert (list(found["pools"]), found["taints"]) == (["v100"], [TAINT])
    assert "node_selector" not in found
    hubs.reset_mock()
    (found,) = made(hubs, cloud="azure", region="eastus", pools={"a10g": CLOUD}).values()
    assert not {"node_selector", "taints"} & set(found)
