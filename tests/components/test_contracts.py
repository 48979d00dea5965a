"""What holds for every component: found by walking the package, so that none can be left out."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Mapping

import pulumi
import pytest
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.experimental.util import camel_case
from recorder import Recording, Registered, construct

import gpufleet.aws

PACKAGE = "gpufleet-aws"
TAGS = {"owner": "ml", "project": "speech", "environment": "dev", "expires-at": "2027-01-31"}
SUBNETS = {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}
NODE_ROLE = "arn:aws:iam::123456789012:role/nodes"

SAMPLES: dict[str, dict[str, object]] = {
    "Network": {
        "region": "us-east-1",
        "zones": ["use1-az1", "use1-az2"],
        "nat": "per-zone",
        "max_zones": 2,
        "interface_endpoints": ["ecr.api", "ecr.dkr"],
        "flow_logs": True,
    },
    "Cluster": {
        "region": "us-east-1",
        "subnet_ids": SUBNETS,
        "admins": {"platform": "arn:aws:iam::123456789012:role/platform"},
        "system_min": 1,
    },
    "GpuNodeGroup": {
        "region": "us-east-1",
        "types": ["p4d.24xlarge"],
        "zones": ["use1-az1"],
        "max": 4,
        "placement": "create",
        "network": "efa",
        "cluster_name": "fleet",
        "vpc_id": "vpc-1",
        "subnet_ids": SUBNETS,
        "cluster_security_group_id": "sg-1",
    },
    "SharedFiles": {
        "region": "us-east-1",
        "zones": ["use1-az1", "use1-az2"],
        "vpc_id": "vpc-1",
        "subnet_ids": SUBNETS,
        "client_security_group_ids": {"nodes": "sg-1"},
        "uid": 1500,
    },
    "Registry": {"region": "us-east-1", "repositories": ["training/llm", "tools"]},
}
"""Every component with arguments that make each kind of its children."""


def _components() -> dict[str, type[pulumi.ComponentResource]]:
    """Class name -> class, of all components that modules of gpufleet.aws define."""
    found: dict[str, type[pulumi.ComponentResource]] = {}
    for info in pkgutil.walk_packages(gpufleet.aws.__path__, "gpufleet.aws."):
        module = importlib.import_module(info.name)
        for name, member in vars(module).items():
            component = inspect.isclass(member) and issubclass(member, pulumi.ComponentResource)
            if component and member.__module__ == module.__name__:
                found[name] = member
    return found


COMPONENTS = _components()


def _build(kind: str, preview: bool) -> Recording[pulumi.ComponentResource]:
    args = {**SAMPLES[kind], "tags": TAGS}
    return construct(lambda: COMPONENTS[kind]("mine", args), preview)  # type: ignore[call-arg]


def _children(recording: Recording[pulumi.ComponentResource]) -> list[Registered]:
    children = [each for each in recording.resources if each.custom]
    assert children, "a sample that makes nothing shows nothing"
    return children


def _takes_tags(type_token: str) -> bool:
    """Whether the SDK's class of a type token has an argument called tags."""
    _, path, name = type_token.split(":")
    module = importlib.import_module(f"pulumi_aws.{path.partition('/')[0]}")
    return "tags" in inspect.signature(getattr(module, f"{name}Args").__init__).parameters


def test_every_component_has_a_sample():
    assert sorted(COMPONENTS) == sorted(SAMPLES)


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_type_token(kind, preview):
    roots = [each for each in _build(kind, preview).resources if not each.custom]
    assert [each.type for each in roots] == [f"{PACKAGE}:index:{kind}"]


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_component_waits_for_nothing(kind, preview):
    """Children register after their parent, so one slow input of the component would hold up all of them."""
    root = _build(kind, preview).one(f"{PACKAGE}:index:{kind}", "mine")
    assert (root.inputs, root.property_dependencies, root.depends_on) == ({}, {}, frozenset())


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_children_are_parented_and_named_after_the_component(kind, preview):
    children = _children(_build(kind, preview))
    assert {each.parent for each in children} == {"mine"}
    assert [each.name for each in children if not each.name.startswith("mine-")] == []
    assert len({each.name for each in children}) == len(children)


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_children_are_tagged(kind, preview):
    taggable = [each for each in _children(_build(kind, preview)) if _takes_tags(each.type)]
    assert taggable
    for child in taggable:
        tags = child.inputs.get("tags")
        assert isinstance(tags, Mapping), f"{child.name} has no tags"
        assert {**tags, **TAGS, "Name": child.name} == tags, f"{child.name} lacks tags"


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_explicit_waits_are_children(kind, preview):
    children = _children(_build(kind, preview))
    names = {each.name for each in children}
    assert [each.name for each in children if not each.depends_on <= names] == []


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_outputs_are_those_declared(kind, preview):
    declared = [name for name in inspect.get_annotations(COMPONENTS[kind]) if not name.startswith("_")]
    assert sorted(_build(kind, preview).outputs["mine"]) == sorted(declared)


def test_component_host_accepts_all_components():
    provider = ComponentProvider(list(COMPONENTS.values()), PACKAGE)
    schema = provider.get_schema() if hasattr(provider, "get_schema") else provider.schema
    for kind in SAMPLES:
        assert f'"{PACKAGE}:index:{kind}"' in str(schema)


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_other_languages_get_the_same_children(kind, preview):
    """Across languages names are camelCase and every number is a float."""
    wire = {
        camel_case(name): float(value) if type(value) is int else value
        for name, value in {**SAMPLES[kind], "tags": TAGS}.items()
    }
    provider = ComponentProvider([COMPONENTS[kind]], PACKAGE)
    remote = construct(lambda: provider.construct("mine", f"{PACKAGE}:index:{kind}", wire), preview)
    here = _build(kind, preview)
    assert {each.name: each.inputs for each in remote.resources} == {each.name: each.inputs for each in here.resources}
    assert remote.outputs["mine"] == here.outputs["mine"]


def test_importing_components_loads_no_resource_class():
    """Reading pulumi_aws.ec2's classes takes a second; a program pays for those that it uses."""
    modules = [info.name for info in pkgutil.walk_packages(gpufleet.aws.__path__, "gpufleet.aws.")]
    script = (
        f"import importlib, sys\n[importlib.import_module(name) for name in {modules}]\n"
        "print([name for name in sys.modules if name.startswith('pulumi_aws.') and name.count('.') > 1])"
    )
    assert _output_of(script) == "[]"


def test_importing_the_package_loads_no_sdk():
    script = "import sys, gpufleet.aws\nprint([name for name in sys.modules if name.startswith('pulumi')])"
    assert _output_of(script) == "[]"


def _output_of(script: str) -> str:
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
