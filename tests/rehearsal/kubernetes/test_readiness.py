"""When an object is ready, what it waits for, and when it never will be."""

import pytest

from gpufleet_rehearsal.kubernetes.readiness import TESTS, NeverReady, RelatedObjects, why_waiting


def condition(type_, status="True", **words):
    return {"type": type_, "status": status, **words}


def at(generation, observed, spec=None, **status):
    about = {"metadata": {"generation": generation}, "spec": spec or {}}
    return about | {"status": {"observedGeneration": observed, **status}}


DEADLINE = condition("Progressing", "False", reason="ProgressDeadlineExceeded", message="no progress")
READY_ENDPOINT = RelatedObjects(endpoints=[{"endpoints": [{"conditions": {"ready": True}}]}])
WAITING_ENDPOINT = RelatedObjects(endpoints=[{"endpoints": [{"conditions": {"ready": False}}]}])


@pytest.mark.parametrize(
    ("row", "document", "belonging", "missing"),
    [
        ("apps/Deployment", at(2, 1, updatedReplicas=1, availableReplicas=1), None,
         "the controller has not seen it yet"),
        ("apps/Deployment", at(1, 1), None, "0 of 1 pods available"),
        ("apps/Deployment", at(1, 1, {"replicas": 0}), None, ""),
        ("apps/Deployment", at(1, 1, {"replicas": 3}, updatedReplicas=3, availableReplicas=2), None,
         "2 of 3 pods available"),
        ("apps/Deployment", at(1, 1, {"replicas": 2}, replicas=3, updatedReplicas=2, availableReplicas=3), None,
         "1 old pods still there"),
        ("apps/Deployment", at(1, 1, conditions=[DEADLINE]), None, "no progress"),
        ("apps/Deployment", at(1, 1, {"replicas": 2}, replicas=2, updatedReplicas=2, availableReplicas=2), None, ""),
        ("apps/DaemonSet", at(1, 1, desiredNumberScheduled=0), None, ""),
        ("apps/DaemonSet", at(1, 1, desiredNumberScheduled=2, updatedNumberScheduled=1, numberAvailable=2), None,
         "1 of 2 pods up to date"),
        ("apps/DaemonSet", at(1, 1, desiredNumberScheduled=2, updatedNumberScheduled=2, numberAvailable=1), None,
         "1 of 2 pods available"),
        ("apps/DaemonSet", at(1, 1, {"updateStrategy": {"type": "OnDelete"}}, desiredNumberScheduled=2,
                              updatedNumberScheduled=0, numberAvailable=2), None, ""),
        ("apps/StatefulSet", at(1, 1, readyReplicas=0), None, "0 of 1 pods ready"),
        ("apps/StatefulSet", at(1, 1, readyReplicas=1, currentRevision="a", updateRevision="b"), None,
         "0 of 1 pods up to date"),
        ("apps/StatefulSet", at(1, 1, readyReplicas=1, currentRevision="b", updateRevision="b"), None, ""),
        ("batch/Job", {"status": {"active": 2}, "spec": {"completions": 3}}, None,
         "0 of 3 completions, 2 pods at work"),
        ("batch/Job", {"status": {"conditions": [condition("Complete")]}}, None, ""),
        ("batch/Job", {"status": {"conditions": [condition("Failed", reason="DeadlineExceeded", message="late")]}},
         None, NeverReady("the job failed: DeadlineExceeded: late")),
        ("core/Pod", {"status": {"phase": "Succeeded"}}, None, ""),
        ("core/Pod", {"status": {"phase": "Failed", "message": "evicted"}}, None,
         NeverReady("the pod failed: evicted")),
        ("core/Pod", {"status": {"phase": "Pending"}}, None, "phase Pending"),
        ("core/Pod", {"status": {"phase": "Running", "conditions": [condition("Ready")]}}, None, ""),
        ("core/PersistentVolume", {"status": {"phase": "Available"}}, None, ""),
        ("core/PersistentVolume", {}, None, "phase Pending"),
        ("core/PersistentVolumeClaim", {"status": {"phase": "Pending"}}, None,
         "phase Pending: no volume is bound to it"),
        ("core/PersistentVolumeClaim", {"status": {"phase": "Pending"}}, RelatedObjects(binds_at_once=False), ""),
        ("core/PersistentVolumeClaim", {"status": {"phase": "Bound"}}, None, ""),
        ("core/PersistentVolumeClaim", {"status": {"phase": "Lost"}}, None, NeverReady("its volume is lost")),
        ("core/Service", {"spec": {"selector": {"a": "b"}}}, None, "no ready pod behind it"),
        ("core/Service", {"spec": {"selector": {"a": "b"}}}, WAITING_ENDPOINT, "no ready pod behind it"),
        ("core/Service", {"spec": {"selector": {"a": "b"}}}, READY_ENDPOINT, ""),
        ("core/Service", {"spec": {}}, None, ""),
        ("core/Service", {"spec": {"type": "ExternalName", "selector": {"a": "b"}}}, None, ""),
        ("core/Service", {"spec": {"type": "LoadBalancer"}}, None, "no address of a load balancer yet"),
        ("core/Service", {"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"ip": "x"}]}}},
         None, ""),
        ("apiextensions.k8s.io/CustomResourceDefinition", {}, None, "not established yet"),
        ("apiextensions.k8s.io/CustomResourceDefinition", {"status": {"conditions": [condition("Established")]}},
         None, ""),
        ("apiextensions.k8s.io/CustomResourceDefinition",
         {"status": {"conditions": [condition("NamesAccepted", "False", message="taken")]}}, None,
         NeverReady("its names are not accepted: taken")),
    ],
)  # fmt: skip
def test_readiness(row, document, belonging, missing):
    test, seconds = TESTS[row]
    assert seconds > 0
    if isinstance(missing, NeverReady):
        with pytest.raises(NeverReady) as failed:
            test(document, belonging or RelatedObjects())
        assert str(failed.value) == str(missing)
    else:
        assert test(document, belonging or RelatedObjects()) == missing


def test_every_kind_that_is_waited_for_is_tested():
    rows = next(mark for mark in test_readiness.pytestmark if mark.name == "parametrize").args[1]
    assert {row[0] for row in rows} == set(TESTS)


def test_pod_tells_why_it_waits():
    unscheduled = condition("PodScheduled", "False", message="0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")
    assert why_waiting({"status": {"conditions": [unscheduled]}}) == unscheduled["message"]
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}
    assert why_waiting({"status": {"containerStatuses": [waiting]}}) == "ImagePullBackOff: no such image"
    assert why_waiting({"status": {"containerStatuses": [{"state": {"running": {}}}]}}) == ""
