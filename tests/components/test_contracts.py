"""What holds for every component of every cloud: none can be left out, because the packages are walked."""

import inspect
import subprocess
import sys

import pytest

from tests.components.recorder import refusal
from tests.components.samples import SAMPLES, Sample, components, every_component, every_package, modules

SDKS = ("pulumi_aws.", "pulumi_azure_native.", "pulumi_kubernetes.")


@every_package
def test_every_component_has_a_sample(package):
    assert sorted(components(package)) == sorted(SAMPLES[package])


@every_component()
def test_type_token(sample: Sample, preview):
    found = [each for each in sample.build(preview).resources if not each.custom]
    names = {each.name for each in found}
    assert [each.type for each in found if each.parent not in names] == [sample.token]
    own = {f"gpufleet-{sample.package}:index:{kind}" for kind in components(sample.package)}
    assert {each.type for each in found} <= own


@every_component()
def test_component_waits_for_nothing(sample: Sample, preview):
    """Children register after their parent, so one slow input of the component would hold up all of them."""
    root = sample.build(preview).one(sample.token, "mine")
    assert (root.inputs, root.property_dependencies, root.depends_on) == ({}, {}, frozenset())


@every_component()
def test_children_are_parented_and_named_after_the_component(sample: Sample, preview):
    found = sample.descendants(preview)
    assert {each.parent for each in found} == {"mine", *(each.name for each in found if not each.custom)}
    # Azure names an account after its logical name, and takes no hyphens there.
    prefixes = ("mine", "mine-") if sample.package == "azure" else ("mine-",)
    assert [each.name for each in found if not each.name.startswith(prefixes)] == []
    assert len({(each.type, each.name) for each in found}) == len(found)


@every_component()
def test_explicit_waits_are_for_siblings(sample: Sample, preview):
    found = sample.descendants(preview)
    names = {each.name for each in found}
    assert [each.name for each in found if not each.depends_on <= names] == []


@every_component()
def test_outputs_are_those_declared(sample: Sample, preview):
    declared = [name for name in inspect.get_annotations(sample.component) if not name.startswith("_")]
    assert sorted(sample.build(preview).outputs["mine"]) == sorted(declared)


@every_component()
def test_an_unknown_argument_is_refused(sample: Sample, preview):
    lines = refusal(lambda: sample.build(preview, xyzzy=1), preview)
    assert len(lines) == 1
    assert lines[0].startswith("mine: xyzzy=1: unknown argument; ")


@every_package
def test_importing_the_package_loads_no_sdk(package):
    assert loaded_by(f"gpufleet.{package}") == []


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ("aws", ["pulumi", "pulumi_aws"]),
        ("azure", ["pulumi", "pulumi_azure_native"]),
        ("kubernetes", ["pulumi", "pulumi_kubernetes"]),
    ],
    ids=str,
)
def test_importing_components_loads_no_resource_class_and_no_other_sdk(package, expected):
    """Reading the classes of pulumi_aws.ec2 takes a second; a program pays for those services that it uses."""
    found = loaded_by(*modules(package))
    assert sorted({name.partition(".")[0] for name in found}) == expected
    assert [name for name in found if name.startswith(SDKS) and name.count(".") > 1] == []


def loaded_by(*names: str) -> list[str]:
    """Modules of SDKs that a new process has after importing these."""
    script = (
        f"import importlib, sys\n[importlib.import_module(name) for name in {list(names)}]\n"
        "print(*(name for name in sys.modules if name.startswith(('pulumi', 'kubernetes', 'boto3', 'azure'))))"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
