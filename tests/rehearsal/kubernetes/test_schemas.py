"""Objects checked without an API server."""

import pytest

from gpufleet_rehearsal.cloud.change import UNKNOWN
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType
from gpufleet_rehearsal.kubernetes.schemas import Schemas

DEPLOYMENT, SECRET, JOB = (
    ResourceType("apps/v1", "Deployment"),
    ResourceType("v1", "Secret"),
    ResourceType("example.org/v1", "TrainJob"),
)


def deployment(**spec):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}


def definition(schema, scope="Namespaced"):
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "example.org", "names": {"kind": "TrainJob"}, "scope": scope, "versions": [version]}
    return {"kind": "CustomResourceDefinition", "spec": spec}


def job(**spec):
    return {"apiVersion": "example.org/v1", "kind": "TrainJob", "metadata": {"name": "j"}, "spec": spec}


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (deployment(replicas=2), None),
        (deployment(replicas="two"), ("spec.replicas", '"two" is not of type integer')),
        (deployment(replicas=UNKNOWN), None),
        (deployment(replica=2), ("spec", "unknown field replica; legal are: minReadySeconds, paused, ")),
        (deployment(template=UNKNOWN), None),
        (
            deployment(selector=None) | {"metadata": {"name": "A_b"}},
            ("metadata.name", "'A_b' must be at most 253 "),
        ),
    ],
)
def test_own_kinds(document, problem):
    found = Schemas().problems(DEPLOYMENT, document)
    if problem is None:
        assert found == []
    else:
        path, words = problem
        assert [(p, w[: len(words)]) for p, w in found if p == path] == [(path, words)]


def test_value_of_a_secret_is_not_shown():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": 12345}}
    assert Schemas().problems(SECRET, secret) == [("stringData.password", "the value is not of type string")]


def test_kinds_of_definitions_in_the_program():
    schemas = Schemas()
    assert not schemas.knows(JOB)
    assert schemas.problems(JOB, job(workers="two")) == []
    workers = {"type": "integer", "minimum": 1, "x-kubernetes-int-or-string": False}
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {"type": "string"}}}
    spec = {"type": "object", "required": ["workers"], "properties": {"workers": workers, "loose": loose}}
    schemas.learn(definition({"type": "object", "properties": {"spec": spec}}))
    assert schemas.knows(JOB)
    assert not schemas.cluster_wide(JOB)
    assert schemas.problems(JOB, job(workers=2, loose={"anything": 1})) == []
    assert schemas.problems(JOB, job()) == [("spec", "workers is missing")]
    assert schemas.problems(JOB, job(workers=0)) == [("spec.workers", "0 does not fit minimum 1")]
    assert schemas.problems(JOB, job(workers=1, gpus=8)) == [("spec", "unknown field gpus; legal are: loose, workers")]
    schemas.learn(definition({"type": "object"}, scope="Cluster"))
    assert schemas.cluster_wide(JOB)


def test_definition_that_is_not_known_yet_teaches_nothing():
    schemas = Schemas()
    schemas.learn({"kind": "CustomResourceDefinition", "spec": UNKNOWN})
    schemas.learn(definition(UNKNOWN))
    assert not schemas.knows(JOB)
