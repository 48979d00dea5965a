"""Manifests that the tests of this folder submit, and waiting for what becomes of them."""

from typing import Any

from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane

TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def pod_template(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "example.org/train:1", **spec.pop("container", {})}
    return {
        "metadata": {"annotations": annotations or {}},
        "spec": {"restartPolicy": "Never", "containers": [container], **spec},
    }


def pod(namespace: str, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    template = pod_template(annotations, **spec)
    metadata = {"name": name, "namespace": namespace, **template["metadata"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def job(namespace: str, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    template = pod_template(annotations, **spec)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"backoffLimit": 0, "template": template},
    }


def mpi_job(
    namespace: str, name: str, workers: int, gpus: int, pool: str, launcher: dict[str, str] | None = None
) -> dict[str, Any]:
    """An MPIJob as short as the operator takes it; gpufleet.jobs makes the real ones."""
    worker = pod_template(
        container={"resources": {"limits": {"nvidia.com/gpu": str(gpus)}}},
        tolerations=[TOLERATION],
        nodeSelector={"gpufleet.dev/pool": pool},
    )
    replicas = {
        "Launcher": {"replicas": 1, "template": pod_template(launcher)},
        "Worker": {"replicas": workers, "template": worker},
    }
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "slotsPerWorker": gpus,
            "launcherCreationPolicy": "WaitForWorkersReady",
            "runPolicy": {"cleanPodPolicy": "None", "backoffLimit": 0},
            "mpiReplicaSpecs": replicas,
        },
    }


def condition(plane: ControlPlane, document: dict[str, Any], kinds: tuple[str, ...]) -> str:
    """Wait until the object has one of these conditions; which."""
    path, found = plane.client.path(document), []

    def look() -> bool:
        status = plane.client.get(path).get("status", {})
        found[:] = [
            each["type"] for each in status.get("conditions", ()) if each["status"] == "True" and each["type"] in kinds
        ]
        return bool(found)

    wait_until(f"{document['kind']} {document['metadata']['name']} is {' or '.join(kinds)}", look)
    return found[0]


def pods(plane: ControlPlane, namespace: str, selector: str = "") -> list[dict[str, Any]]:
    items = plane.client.get(f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)["items"]
    return sorted(items, key=lambda each: each["metadata"]["name"])


def exit_codes(listed: list[dict[str, Any]]) -> list[int | None]:
    """Of the first container of each pod; None while it runs."""
    return [each["status"]["containerStatuses"][0]["state"].get("terminated", {}).get("exitCode") for each in listed]
