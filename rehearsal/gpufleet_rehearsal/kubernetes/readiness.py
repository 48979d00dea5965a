"""Whether an object does what it was made for: pure functions of the object, and of what belongs to it.

As the real provider waits (pulumi/pulumi-kubernetes, provider/pkg/await, read in November 2026). Kinds that are not
here are ready once the API server has them. An Ingress is one of those: nothing in a rehearsal gives it an address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]


class NeverReady(Exception):
    """The object will not become ready; the text says why."""


@dataclass(frozen=True)
class RelatedObjects:
    """What has to be looked at beside the object itself.

    endpoints: a Service's EndpointSlices. binds_at_once: of a claim's storage class, False when it waits for a pod.
    """

    endpoints: Sequence[Document] = ()
    binds_at_once: bool = True


Test = Callable[[Document, RelatedObjects], str]
"""What is missing, in a few words; empty when the object is ready. Raises NeverReady."""


def condition(document: Document, type_: str) -> Document:
    """One condition of an object's status; empty when it is not there."""
    conditions = (document.get("status") or {}).get("conditions") or []
    return next((entry for entry in conditions if entry.get("type") == type_), {})


def _observed(document: Document) -> bool:
    """Whether the controller has seen the newest specification."""
    generation = document["metadata"].get("generation", 0)
    return bool((document.get("status") or {}).get("observedGeneration", 0) >= generation)


def _deployment(document: Document, _: RelatedObjects) -> str:
    status, wanted = document.get("status") or {}, (document.get("spec") or {}).get("replicas", 1)
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if not _observed(document):
        return "the controller has not seen it yet"
    progressing = condition(document, "Progressing")
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        return str(progressing.get("message", "ProgressDeadlineExceeded"))
    if updated < wanted or available < wanted:
        return f"{min(updated, available)} of {wanted} pods available"
    if status.get("replicas", 0) > updated:
        return f"{status['replicas'] - updated} old pods still there"
    return ""


def _daemon_set(document: Document, _: RelatedObjects) -> str:
    status = document.get("status") or {}
    wanted, updated = status.get("desiredNumberScheduled", 0), status.get("updatedNumberScheduled", 0)
    if not _observed(document):
        return "the controller has not seen it yet"
    strategy = ((document.get("spec") or {}).get("updateStrategy") or {}).get("type", "RollingUpdate")
    if strategy == "RollingUpdate" and updated < wanted:
        return f"{updated} of {wanted} pods up to date"
    available = status.get("numberAvailable", 0)
    return f"{available} of {wanted} pods available" if available < wanted else ""


def _stateful_set(document: Document, _: RelatedObjects) -> str:
    status, spec = document.get("status") or {}, document.get("spec") or {}
    wanted, ready = spec.get("replicas", 1), status.get("readyReplicas", 0)
    if not _observed(document):
        return "the controller has not seen it yet"
    if ready < wanted:
        return f"{ready} of {wanted} pods ready"
    rolling = (spec.get("updateStrategy") or {}).get("type", "RollingUpdate") == "RollingUpdate"
    partition = ((spec.get("updateStrategy") or {}).get("rollingUpdate") or {}).get("partition", 0)
    if rolling and not partition and wanted and status.get("currentRevision") != status.get("updateRevision"):
        return f"{status.get('updatedReplicas', 0)} of {wanted} pods up to date"
    return ""


def _job(document: Document, _: RelatedObjects) -> str:
    failed = condition(document, "Failed")
    if failed.get("status") == "True":
        raise NeverReady(f"the job failed: {failed.get('reason', '')}: {failed.get('message', '')}".rstrip(": "))
    if condition(document, "Complete").get("status") == "True":
        return ""
    status = document.get("status") or {}
    done, wanted = status.get("succeeded", 0), (document.get("spec") or {}).get("completions") or 1
    return f"{done} of {wanted} completions, {status.get('active', 0)} pods at work"


def _pod(document: Document, _: RelatedObjects) -> str:
    status = document.get("status") or {}
    phase = status.get("phase", "Pending")
    if phase == "Failed":
        raise NeverReady(f"the pod failed: {status.get('message') or status.get('reason') or 'see its log'}")
    ready = phase == "Succeeded" or condition(document, "Ready").get("status") == "True"
    return "" if ready else why_waiting(document) or f"phase {phase}"


def _claim(document: Document, belonging: RelatedObjects) -> str:
    phase = (document.get("status") or {}).get("phase", "Pending")
    if phase == "Lost":
        raise NeverReady("its volume is lost")
    bound = phase == "Bound" or (phase == "Pending" and not belonging.binds_at_once)
    return "" if bound else f"phase {phase}: no volume is bound to it"


def _volume(document: Document, _: RelatedObjects) -> str:
    status = document.get("status") or {}
    phase = status.get("phase", "Pending")
    if phase == "Failed":
        raise NeverReady(f"the volume failed: {status.get('message', '')}")
    return "" if phase in ("Available", "Bound") else f"phase {phase}"


def _service(document: Document, belonging: RelatedObjects) -> str:
    spec = document.get("spec") or {}
    if spec.get("type") == "LoadBalancer":
        ingress = ((document.get("status") or {}).get("loadBalancer") or {}).get("ingress")
        if not ingress:
            return "no address of a load balancer yet"
    if spec.get("type") == "ExternalName" or not spec.get("selector"):
        return ""
    ready = any(
        (endpoint.get("conditions") or {}).get("ready")
        for slice_ in belonging.endpoints
        for endpoint in slice_.get("endpoints") or []
    )
    return "" if ready else "no ready pod behind it"


def _definition(document: Document, _: RelatedObjects) -> str:
    refused = condition(document, "NamesAccepted")
    if refused.get("status") == "False":
        raise NeverReady(f"its names are not accepted: {refused.get('message', '')}")
    return "" if condition(document, "Established").get("status") == "True" else "not established yet"


TESTS: Mapping[str, tuple[Test, int]] = {
    "apps/Deployment": (_deployment, 600),
    "apps/DaemonSet": (_daemon_set, 600),
    "apps/StatefulSet": (_stateful_set, 600),
    "batch/Job": (_job, 600),
    "core/Pod": (_pod, 600),
    "core/PersistentVolume": (_volume, 300),
    "core/PersistentVolumeClaim": (_claim, 300),
    "core/Service": (_service, 600),
    "apiextensions.k8s.io/CustomResourceDefinition": (_definition, 60),
}
"""By <group>/<kind>: the test, and seconds that an object is given when nobody says otherwise."""


def why_waiting(pod: Document) -> str:
    """Why a pod does not run; empty when it tells nothing."""
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return str(scheduled.get("message") or scheduled.get("reason") or "not scheduled")
    status = pod.get("status") or {}
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = (container.get("state") or {}).get("waiting")
        if waiting and waiting.get("reason"):
            return f"{waiting['reason']}: {waiting.get('message', '')}".rstrip(": ")
    return ""
