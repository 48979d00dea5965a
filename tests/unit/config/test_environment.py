"""An environment: its configuration, the names and tags of its parts, and what it says on objects of Kubernetes."""

import json

import pulumi
import pytest

from gpufleet.config.environment import Environment
from gpufleet.config.onprem import OnpremConfig
from gpufleet.config.reader import ConfigError
from gpufleet.config.shared import SharedConfig
from gpufleet.rules.generic import at_least
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.validation import validate_stack
from tests.components.recorder import construct

LAB = {
    "gpufleet:cloud": "onprem",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:kubeconfig": "# lab",
    "gpufleet:nfs": "10.0.0.5:/export/shared",
}
SHARED: SharedConfig = {"cloud": "onprem", "owner": "team", "project": "training", "tags": {}}


def named(name, **config):
    return Environment(name, SHARED | config)


def test_its_name_is_the_stacks_and_its_configuration_the_engines(monkeypatch):
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps(LAB))
    env = construct(lambda: Environment.load(OnpremConfig), preview=True, stack="lab").result
    assert env.name == "lab"
    assert (env.config["nfs"], env.config["pools"]) == ("10.0.0.5:/export/shared", {})
    assert env.part("network") == "lab-network"


def test_faults_of_the_configuration_name_the_file(monkeypatch):
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**LAB, "gpufleet:ownr": "x", "gpufleet:nfs": "[1]"}))
    with pytest.raises(ConfigError) as error:
        construct(lambda: Environment.load(OnpremConfig), preview=True, stack="lab")
    assert str(error.value).splitlines() == [
        "Pulumi.lab.yaml: gpufleet:nfs=[1]: must be text; put it in quotes [config-value]",
        "Pulumi.lab.yaml: gpufleet:ownr: unknown key; did you mean owner? [config-unknown-key]",
    ]


def test_tags_say_whose_it_is_and_until_when():
    always = {"owner": "team", "project": "training", "environment": "dev", "expires-at": "never"}
    assert named("dev").tags == always
    asked = {"purpose": "a paper", "expires_at": "150h", "grace": "2d"}
    assert named("dev", **asked).tags == {**always, "purpose": "a paper", "expires-at": "150h", "grace": "2d"}
    # What they mean is not for a configuration to change.
    assert named("dev", tags={"cost": "7", "environment": "prod"}).tags == {**always, "cost": "7"}


def test_labels_hold_what_is_set_as_far_as_a_label_can(monkeypatch):
    monkeypatch.setattr(pulumi, "get_project", lambda: "labs.physics")
    env = named("dev", owner="Ana B. <ana@lab.example>", project="研究", expires_at="2027-01-31")
    assert env.labels == {
        "gpufleet.dev/stack": "labs.physics-dev",
        "gpufleet.dev/environment": "dev",
        "gpufleet.dev/owner": "Ana-B.-ana-lab.example",
        "gpufleet.dev/expires-at": "2027-01-31",
    }


def of_part(env, part):
    """Faults of one part, of which all parts have the same."""
    for argument in ("region", "tags.x", "cidr", "max"):
        yield ResourceFinding(env.part(part), at_least(argument=argument, value=0, least=1))


def test_faults_of_what_all_parts_share_are_said_once():
    env = named("dev")
    with pytest.raises(pulumi.RunError) as error, env.gathering("cidr"):
        validate_stack([*of_part(env, "a"), *of_part(env, "b")])
    assert [line.partition("=")[0] for line in str(error.value).splitlines()] == [
        "dev-a: region",
        "dev-a: tags.x",
        "dev-a: cidr",
        "dev-a: max",
        "dev-b: max",
    ]
