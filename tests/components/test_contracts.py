"""What holds for every component: none can be left out, because the package is walked."""

import importlib
import inspect
import subprocess
import sys
from collections.abc import Mapping

import pulumi
import pytest
from recorder import Recording, Registered
from samples import COMPONENTS, PACKAGE, SAMPLES, TAGS, build, modules

every_component = pytest.mark.parametrize("kind", sorted(SAMPLES))


def children(recording: Recording[pulumi.ComponentResource]) -> list[Registered]:
    found = [each for each in recording.resources if each.custom]
    assert found, "a sample that makes nothing shows nothing"
    return found


def takes_tags(type_token: str) -> bool:
    """Whether the SDK's class of a type token has an argument called tags."""
    _, path, name = type_token.split(":")
    module = importlib.import_module(f"pulumi_aws.{path.partition('/')[0]}")
    return "tags" in inspect.signature(getattr(module, f"{name}Args").__init__).parameters


def test_every_component_has_a_sample():
    assert sorted(COMPONENTS) == sorted(SAMPLES)


@every_component
def test_type_token(kind, preview):
    roots = [each for each in build(kind, preview).resources if not each.custom]
    assert [each.type for each in roots] == [f"{PACKAGE}:index:{kind}"]


@every_component
def test_component_waits_for_nothing(kind, preview):
    """Children register after their parent, so one slow input of the component would hold up all of them."""
    root = build(kind, preview).one(f"{PACKAGE}:index:{kind}", "mine")
    assert (root.inputs, root.property_dependencies, root.depends_on) == ({}, {}, frozenset())


@every_component
def test_children_are_parented_and_named_after_the_component(kind, preview):
    found = children(build(kind, preview))
    assert {each.parent for each in found} == {"mine"}
    assert [each.name for each in found if not each.name.startswith("mine-")] == []
    assert len({each.name for each in found}) == len(found)


@every_component
def test_children_are_tagged(kind, preview):
    taggable = [each for each in children(build(kind, preview)) if takes_tags(each.type)]
    assert taggable
    for child in taggable:
        tags = child.inputs.get("tags")
        assert isinstance(tags, Mapping), f"{child.name} has no tags"
        assert {**tags, **TAGS, "Name": child.name} == tags, f"{child.name} lacks tags"


@every_component
def test_explicit_waits_are_for_siblings(kind, preview):
    found = children(build(kind, preview))
    names = {each.name for each in found}
    assert [each.name for each in found if not each.depends_on <= names] == []


@every_component
def test_outputs_are_those_declared(kind, preview):
    declared = [name for name in inspect.get_annotations(COMPONENTS[kind]) if not name.startswith("_")]
    assert sorted(build(kind, preview).outputs["mine"]) == sorted(declared)


def test_importing_components_loads_no_resource_class():
    """Reading the classes of pulumi_aws.ec2 takes a second; a program pays for those services that it uses."""
    script = (
        f"import importlib, sys\n[importlib.import_module(name) for name in {modules()}]\n"
        "print([name for name in sys.modules if name.startswith('pulumi_aws.') and name.count('.') > 1])"
    )
    assert output_of(script) == "[]"


def test_importing_the_package_loads_no_sdk():
    script = "import sys, gpufleet.aws\nprint([name for name in sys.modules if name.startswith('pulumi')])"
    assert output_of(script) == "[]"


def output_of(script: str) -> str:
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
