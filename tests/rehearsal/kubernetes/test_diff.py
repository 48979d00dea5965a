"""What replaces an object, and what changes it in place."""

import pytest

from gpufleet_rehearsal.kubernetes.diff import changes
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType

CLAIM, CONFIGMAP = ResourceType("v1", "PersistentVolumeClaim"), ResourceType("v1", "ConfigMap")
DEPLOYMENT, JOB, SERVICE = (
    ResourceType("apps/v1", "Deployment"),
    ResourceType("batch/v1", "Job"),
    ResourceType("v1", "Service"),
)


def named(name="a", **about):
    return {"metadata": {"name": name, **about}}


@pytest.mark.parametrize(
    ("kind", "old", "new", "changed", "replaces"),
    [
        (DEPLOYMENT, {"spec": {"replicas": 1}}, {"spec": {"replicas": 2}}, ["spec.replicas"], False),
        (DEPLOYMENT, {"spec": {"selector": {"matchLabels": {"a.b/c": "1"}}}},
         {"spec": {"selector": {"matchLabels": {"a.b/c": "2"}}}}, ['spec.selector.matchLabels["a.b/c"]'], True),
        (JOB, {"spec": {"template": {"spec": {"containers": [{"image": "a:1"}]}}}},
         {"spec": {"template": {"spec": {"containers": [{"image": "a:2"}]}}}},
         ["spec.template.spec.containers[0].image"], True),
        (JOB, {"spec": {"ttlSecondsAfterFinished": 1}}, {"spec": {}}, ["spec.ttlSecondsAfterFinished"], False),
        (CLAIM, {"spec": {"resources": {"requests": {"storage": "1Gi"}}}},
         {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}, ["spec.resources.requests.storage"], False),
        (CLAIM, {"spec": {"accessModes": ["ReadWriteOnce"]}}, {"spec": {"accessModes": ["ReadWriteMany"]}},
         ["spec.accessModes[0]"], True),
        (CLAIM, {"spec": {"accessModes": ["ReadWriteOnce"]}}, {"spec": {"accessModes": ["ReadWriteOnce", "x"]}},
         ["spec.accessModes[1]"], True),
        (SERVICE, {"spec": {"clusterIPs": []}}, {"spec": {"clusterIP": "None", "clusterIPs": []}},
         ["spec.clusterIP"], True),
        (SERVICE, {"spec": {"ports": [{"port": 80}]}}, {"spec": {"ports": [{"port": 81}]}},
         ["spec.ports[0].port"], False),
        # An empty object is not the same as none.
        (ResourceType("networking.k8s.io/v1", "NetworkPolicy"), {"spec": {}}, {"spec": {"podSelector": {}}},
         ["spec.podSelector"], False),
        # The same number, and a word that reads like it.
        (DEPLOYMENT, {"spec": {"x": 1}}, {"spec": {"x": True}}, ["spec.x"], False),
        (DEPLOYMENT, {"spec": {"x": 1}}, {"spec": {"x": 1.0}}, [], False),
        (CONFIGMAP, {"data": {"a": "1"}}, {"data": {"a": "2"}}, ["data.a"], True),
    ],
)  # fmt: skip
def test_changes(kind, old, new, changed, replaces):
    found = changes(kind, named() | old, named() | new)
    assert [change.path for change in found.changes] == changed
    assert bool(found.replaces) is replaces
    # The name is the program's own, and stays: the old one has to go first.
    assert found.delete_first is replaces


def test_name_and_namespace_replace_and_need_not_go_first():
    for about in ({"name": "b"}, {"name": "a", "namespace": "other"}):
        found = changes(CONFIGMAP, named(), {"metadata": about})
        assert found.replaces == ["metadata"]
        assert not found.delete_first
    assert changes(CONFIGMAP, named(), named(namespace="default")).changes == ()


def test_name_that_was_made_lets_the_new_one_come_first():
    marked = {"annotations": {"pulumi.com/autonamed": "true"}}
    found = changes(CONFIGMAP, named(**marked) | {"data": {"a": "1"}}, named(**marked) | {"data": {"a": "2"}})
    assert found.replaces == ["data"]
    assert not found.delete_first


def test_configmaps_change_in_place_on_request_unless_they_are_immutable():
    old, new = named() | {"data": {"a": "1"}}, named() | {"data": {"a": "2"}}
    assert not changes(CONFIGMAP, old, new, mutable=["enableConfigMapMutable"]).replaces
    assert changes(CONFIGMAP, old, new, mutable=["enableSecretMutable"]).replaces
    assert changes(CONFIGMAP, old, new | {"immutable": True}, mutable=["enableConfigMapMutable"]).replaces
    secret = ResourceType("v1", "Secret")
    assert not changes(secret, old, new, mutable=["enableSecretMutable"]).replaces
    assert changes(secret, {**old, "type": "a"}, {**old, "type": "b"}, mutable=["enableSecretMutable"]).replaces


def test_patch_changes_in_place_but_for_its_object():
    patch = ResourceType("apps/v1", "Deployment", patch=True)
    old = named() | {"spec": {"selector": {"a": "1"}}}
    assert not changes(patch, old, named() | {"spec": {"selector": {"a": "2"}}}).replaces
    assert changes(patch, old, named("b") | {"spec": {"selector": {"a": "1"}}}).replaces
