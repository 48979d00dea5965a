"""`gpufleet:notebooks`: what a team's notebooks are told of pools, prices, users and host."""

import pytest
from pydantic import ValidationError

from gpufleet.kubernetes.notebook_profiles import plan_profiles
from gpufleet.kubernetes.notebooks import NotebooksArgs
from gpufleet.rules import judge_arguments
from gpufleet.rules.kubernetes.notebooks import judge_notebooks
from notebook_settings import NotebookSettings, notebook_args, notebook_pools

CLOUD = {"types": ["g5.12xlarge"], "zones": ["use1-az1"], "max": 2, "label": "dev-a10g"}
OWN = {"gpu": "V100", "gpus": 4, "place": "onprem", "zones": ["onprem"], "max": 2, "label": "dev-v100"}
TEAM = {
    "namespace": "vision",
    "labels": {"gpufleet.dev/environment": "lab-dev"},
    "users": {"ana": {"uid": 1501, "gid": 1501}},
}
IMAGE = "registry.example.com/notebook:1"


def settings(**more):
    return NotebookSettings.model_validate({"host": "hub.example.com", "images": [IMAGE], **more})


def args(several=False, prices=None, **more):
    where = {"several": several, "cloud": "aws", "region": "us-east-1", "purpose": None}
    where["usd_per_gpu_hour"] = prices or {}
    return notebook_args(settings(**more), "lab-dev", TEAM, {"a10g": CLOUD, "v100": OWN}, **where)


def test_arguments_are_those_of_the_component():
    made = args(idle_minutes=30, tls={"secret": "hub-tls"}, prices={"v100": 0.2})
    assert made == {
        "host": "hub.example.com",
        "images": [IMAGE],
        "idle_minutes": 30,
        "tls": {"secret": "hub-tls"},
        "users": TEAM["users"],
        "environment": "lab-dev",
        "namespace": "vision",
        "labels": TEAM["labels"],
        "pools": {
            "a10g": {"gpu": "A10G", "gpus": 4, "place": "cloud", "usd_per_hour": 5.672},
            "v100": {"gpu": "V100", "gpus": 4, "place": "onprem", "usd_per_hour": 0.8},
        },
    }
    findings = [*judge_arguments({**made, "volume_claim": "shared"}, NotebooksArgs), *judge_notebooks(made)]
    assert [each.line("notebooks") for each in findings if each.refuses] == []


def test_each_of_several_teams_has_a_host_of_its_own():
    assert args(several=True)["host"] == "vision.hub.example.com"
    assert args()["host"] == "hub.example.com"


def test_names_that_a_researcher_sees():
    assert [each["display_name"] for each in plan_profiles(args()["pools"], [IMAGE], {})] == [
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


@pytest.mark.parametrize(("cloud", "region"), [("aws", None), ("onprem", None), ("aws", "nowhere-1")])
def test_a_price_that_is_not_known_is_left_out(cloud, region):
    assert "usd_per_hour" not in notebook_pools({"a10g": CLOUD}, {}, cloud, region)["a10g"]


def test_what_the_stack_knows_cannot_be_set():
    for key in ("namespace", "users", "jobs", "volume_claim"):
        with pytest.raises(ValidationError, match=key):
            settings(**{key: "x"})
