"""What holds for every object that a component of gpufleet.kubernetes makes, besides what holds for all components."""

import copy

import pytest
from kubernetes_validate import SchemaNotFoundError, ValidationError, validate

from tests.components.recorder import Registered
from tests.components.samples import LABELS, SAMPLES, Sample, every_component

KUBERNETES = "1.34"
RELEASE = "kubernetes:helm.sh/v3:Release"
OTHERS = ("kueue.x-k8s.io/", "kubeflow.org/")
"""API groups of operators, whose schemas are on a cluster only: tests/cluster."""


def objects(sample: Sample, preview: bool) -> list[Registered]:
    return [each for each in sample.children(preview) if each.type != RELEASE]


@every_component("kubernetes")
def test_outputs_are_known_in_a_preview(sample: Sample):
    outputs = sample.build(preview=True).outputs["mine"]
    assert [name for name, value in outputs.items() if value == "<unknown>"] == []


@every_component("kubernetes")
def test_type_says_what_the_object_is(sample: Sample, preview):
    for child in objects(sample, preview):
        _, group_version, word = child.type.split(":")
        # A patch is a type of its own, of the same kind.
        assert child.inputs["kind"] == word.removesuffix("Patch")
        assert child.inputs["apiVersion"] == group_version.removeprefix("core/")


@every_component("kubernetes")
def test_objects_have_names_and_labels_of_their_own(sample: Sample, preview):
    for child in objects(sample, preview):
        assert child.inputs["metadata"]["name"], "an autoname is another one on each cluster"
        labels = child.inputs["metadata"]["labels"]
        assert {**LABELS, **labels} == labels or labels == {"owner": "upstream", "project": "speech"}
        assert "status" not in child.inputs


@every_component("kubernetes")
def test_objects_fit_the_schemas_of_kubernetes(sample: Sample):
    for child in objects(sample, preview=False):
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
    for kind in SAMPLES["kubernetes"]:
        for child in objects(Sample("kubernetes", kind), preview=False):
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
