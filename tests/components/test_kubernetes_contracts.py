"""What holds for every component of gpufleet.kubernetes: none can be left out, because the package is walked."""

import copy
import inspect
import re
import subprocess
import sys

import pulumi
import pytest
from kubernetes_samples import COMPONENTS, LABELS, PACKAGE, SAMPLES, build, modules
from kubernetes_validate import SchemaNotFoundError, ValidationError, validate
from pulumi.provider.experimental.analyzer import Analyzer
from pulumi.provider.experimental.component import ComponentProvider
from recorder import Recording, Registered, construct, refusal

every_component = pytest.mark.parametrize("kind", sorted(SAMPLES))
KUBERNETES = "1.34"
RELEASE = "kubernetes:helm.sh/v3:Release"
OTHERS = ("kueue.x-k8s.io/", "kubeflow.org/")
"""API groups of operators, whose schemas are on a cluster only: tests/cluster."""


def children(recording: Recording[pulumi.ComponentResource]) -> list[Registered]:
    found = [each for each in recording.resources if each.custom]
    assert found, "a sample that makes nothing shows nothing"
    return found


def objects(kind: str, preview: bool) -> list[Registered]:
    return [each for each in children(build(kind, preview)) if each.type != RELEASE]


def test_every_component_has_a_sample():
    assert sorted(COMPONENTS) == sorted(SAMPLES)


@every_component
def test_type_token(kind, preview):
    roots = [each for each in build(kind, preview).resources if not each.custom]
    assert [each.type for each in roots] == [f"{PACKAGE}:index:{kind}"]


@every_component
def test_component_waits_for_nothing(kind, preview):
    root = build(kind, preview).one(f"{PACKAGE}:index:{kind}", "mine")
    assert (root.inputs, root.property_dependencies, root.depends_on) == ({}, {}, frozenset())


@every_component
def test_children_are_parented_and_named_after_the_component(kind, preview):
    found = children(build(kind, preview))
    assert {each.parent for each in found} == {"mine"}
    assert [each.name for each in found if not each.name.startswith("mine-")] == []
    assert len({each.name for each in found}) == len(found)


@every_component
def test_explicit_waits_are_for_siblings(kind, preview):
    found = children(build(kind, preview))
    names = {each.name for each in found}
    assert [each.name for each in found if not each.depends_on <= names] == []


@every_component
def test_outputs_are_those_declared_and_known_in_a_preview(kind, preview):
    declared = [name for name in inspect.get_annotations(COMPONENTS[kind]) if not name.startswith("_")]
    outputs = build(kind, preview).outputs["mine"]
    assert sorted(outputs) == sorted(declared)
    assert [name for name, value in outputs.items() if value == "<unknown>"] == []


@every_component
def test_type_says_what_the_object_is(kind, preview):
    for child in objects(kind, preview):
        _, group_version, word = child.type.split(":")
        assert child.inputs["kind"] == word
        assert child.inputs["apiVersion"] == group_version.removeprefix("core/")


@every_component
def test_objects_have_names_and_labels_of_their_own(kind, preview):
    for child in objects(kind, preview):
        assert child.inputs["metadata"]["name"], "an autoname is another one on each cluster"
        labels = child.inputs["metadata"]["labels"]
        assert {**LABELS, **labels} == labels or labels == {"owner": "upstream", "project": "speech"}
        assert "status" not in child.inputs


@every_component
def test_objects_fit_the_schemas_of_kubernetes(kind):
    for child in objects(kind, preview=False):
        document = plain(child.inputs)
        if document["apiVersion"].startswith(OTHERS):
            continue
        validate(document, KUBERNETES, strict=True)
        broken = copy.deepcopy(document)
        broken["metadata"]["nam"] = "typo"
        with pytest.raises(ValidationError):
            validate(broken, KUBERNETES, strict=True)


def test_only_operators_kinds_have_no_schema():
    unknown = set()
    for kind in SAMPLES:
        for child in objects(kind, preview=False):
            try:
                validate(plain(child.inputs), KUBERNETES, strict=True)
            except SchemaNotFoundError:
                unknown.add(child.type.split(":")[1].partition("/")[0])
    assert unknown == {"kueue.x-k8s.io", "kubeflow.org"}


def plain(value: object) -> object:
    """Inputs without the recorder's marks on secrets."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return plain(value.value) if type(value).__name__ == "Secret" else value


@every_component
def test_an_unknown_argument_is_refused(kind, preview):
    lines = refusal(lambda: COMPONENTS[kind]("mine", {**SAMPLES[kind], "xyzzy": 1}), preview)
    assert len(lines) == 1
    assert lines[0].startswith("mine: xyzzy=1: there is no argument of this name; ")


def test_importing_components_loads_no_sdk_of_kubernetes_or_a_cloud():
    script = (
        f"import importlib, sys\n[importlib.import_module(name) for name in {modules()}]\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules if name.startswith(('pulumi', 'kubernetes'))}))"
    )
    assert output_of(script) == "['pulumi']"


def test_importing_the_package_loads_nothing():
    script = "import sys, gpufleet.kubernetes\nprint([name for name in sys.modules if name.startswith('pulumi')])"
    assert output_of(script) == "[]"


def output_of(script: str) -> str:
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# Served to other languages: names are camelCase and every number is a float.


def over_the_wire(value: object) -> object:
    if isinstance(value, dict):
        return {key: over_the_wire(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [over_the_wire(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def camel(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def test_host_takes_all_components_as_one_package():
    provider = ComponentProvider(list(COMPONENTS.values()), PACKAGE)
    assert sorted(provider._component_defs) == sorted(SAMPLES)


@every_component
def test_served_component_registers_the_same(kind, preview):
    wire = {camel(key): over_the_wire(value) for key, value in {**SAMPLES[kind], "labels": LABELS}.items()}
    if isinstance(source := wire.get("source"), dict):
        wire["source"] = {camel(key): value for key, value in source.items()}
    provider = ComponentProvider([COMPONENTS[kind]], PACKAGE)
    served = construct(lambda: provider.construct("mine", f"{PACKAGE}:index:{kind}", wire), preview)
    direct = build(kind, preview)
    assert {each.name: each for each in served.resources} == {each.name: each for each in direct.resources}
    assert served.outputs["mine"] == direct.outputs["mine"]


@every_component
def test_component_describes_each_argument(kind):
    analysis = Analyzer(PACKAGE).analyze([COMPONENTS[kind]])["component_definitions"][kind]
    described = {analysis.inputs_mapping[key] for key, value in analysis.inputs.items() if value.description}
    declared = inspect.signature(COMPONENTS[kind].__init__).parameters["args"].annotation
    assert declared.__name__ == f"{kind}Args"
    assert set(inspect.get_annotations(declared)) - described == set()
