"""The gate before an expensive run: what the cluster has, without running anything on it."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.jobs import places
from gpufleet.jobs.check import Check, fails, passes, unknown
from gpufleet.jobs.kubernetes_api import KubernetesApi, Object, Refused
from gpufleet.jobs.ready_nodes import GPU, check_nodes, is_ready
from gpufleet.jobs.settings import Pool, Settings

_PLUGIN_IMAGES = ("k8s-device-plugin", "nvidia-device-plugin")
"""Names of images, whole, for that of the EFA plugin ends with NVIDIA's. The GPU operator starts NVIDIA's, too."""
_EFA_IMAGES = ("aws-efa-k8s-device-plugin",)


def nodes_of(api: KubernetesApi, pool: Pool) -> list[Object]:
    """The pool's nodes that are there now. Errors: UserError."""
    return list(api.get("/api/v1/nodes", labelSelector=f"gpufleet.dev/pool={pool.label}").get("items") or [])


def look(api: KubernetesApi, settings: Settings, pool: Pool, wanted: int, nodes: Sequence[Object]) -> list[Check]:
    """Every check that needs no job. Errors: UserError when the cluster does not answer."""
    operator = (
        passes("MPI operator", "kubeflow.org/v2beta1 is served")
        if api.find(places.OPERATOR) is not None
        else fails("MPI operator", "MPIJob is not known", "install it with `pulumi up`")
    )
    checks = [operator, *check_nodes(pool, wanted, nodes)]
    ready = [node for node in nodes if is_ready(node)]
    if ready:
        checks += _plugins(api, pool, ready)
    checks.append(_volume(api, settings))
    return checks


def _plugins(api: KubernetesApi, pool: Pool, ready: Sequence[Object]) -> list[Check]:
    try:
        found = api.get("/apis/apps/v1/daemonsets").get("items") or []
    except Refused as error:
        if error.status != 403:
            raise
        return [unknown("device plugin", str(error), "ask somebody who may list DaemonSets")]
    checks = [_plugin("device plugin", _with_image(found, _PLUGIN_IMAGES), ready)]
    if pool.efa:
        checks.append(_plugin("EFA plugin", _with_image(found, _EFA_IMAGES), ready))
    return checks


def _with_image(sets: Sequence[Object], images: Sequence[str]) -> list[Object]:
    def runs(each: Mapping[str, Any]) -> bool:
        containers = each["spec"]["template"]["spec"].get("containers") or []
        return any(_image_name(str(container.get("image") or "")) in images for container in containers)

    return [each for each in sets if runs(each)]


def _image_name(image: str) -> str:
    """registry:5000/nvidia/k8s-device-plugin:v0.20.0@sha256:... is k8s-device-plugin."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _plugin(subject: str, sets: Sequence[Object], ready: Sequence[Object]) -> Check:
    if not sets:
        if subject == "device plugin" and all(node["status"].get("allocatable", {}).get(GPU) for node in ready):
            return passes(subject, "no DaemonSet, but every node tells its GPUs: the node's image brings it")
        return fails(subject, "there is no DaemonSet of it", "install it with `pulumi up`")
    # One of several may be for other nodes: the one with most pods is this pool's.
    best = max(sets, key=lambda each: int((each.get("status") or {}).get("numberReady") or 0))
    status = best.get("status") or {}
    wanted, up = int(status.get("desiredNumberScheduled") or 0), int(status.get("numberReady") or 0)
    name = f"{best['metadata']['namespace']}/{best['metadata']['name']}"
    if wanted and up >= wanted and up >= len(ready):
        return passes(subject, f"{name} is up on {up} nodes")
    fix = f"see `kubectl describe daemonset -n {best['metadata']['namespace']} {best['metadata']['name']}`"
    return fails(subject, f"{name} is up on {up} of {max(wanted, len(ready))} nodes", fix)


def _volume(api: KubernetesApi, settings: Settings) -> Check:
    claim = settings.volume_claim
    if claim is None:
        return unknown("shared volume", "the environment's outputs name no claim", "run `pulumi up` with shared files")
    found = api.find(places.core(settings.namespace, "persistentvolumeclaims", claim))
    if found is None:
        return fails("shared volume", f"no claim {claim} in namespace {settings.namespace}", "`pulumi up` makes it")
    phase = str((found.get("status") or {}).get("phase"))
    modes = (found.get("spec") or {}).get("accessModes") or []
    if phase != "Bound":
        return fails(
            "shared volume", f"claim {claim} is {phase}", f"see `kubectl describe pvc -n {settings.namespace} {claim}`"
        )
    if "ReadWriteMany" not in modes:
        return fails("shared volume", f"claim {claim} is {', '.join(modes)}", "use a volume that many nodes can write")
    return passes("shared volume", f"claim {claim} is bound, ReadWriteMany")
