"""The gate before an expensive run: what the cluster has, without running anything on it."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesObject
from gpufleet.jobs.kubernetes.check_result import CheckResult, failed_check, passed_check, unknown_check
from gpufleet.jobs.kubernetes.node_readiness import GPU, check_nodes, is_ready
from gpufleet.jobs.kubernetes.pending_pods import format_name_ranges
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.settings import JobSettings

_PLUGIN = ("k8s-device-plugin", "nvidia-device-plugin")
"""Of its image, whatever the registry, or its pods' label app.kubernetes.io/name, as its chart and we write it. Whole
names: the EFA plugin's ends with NVIDIA's. The GPU operator starts NVIDIA's, too."""
_EFA_PLUGIN = ("aws-efa-k8s-device-plugin",)


def pool_nodes(api: KubernetesApi, pool: PoolInfo) -> list[KubernetesObject]:
    """The pool's nodes that are there now. Errors: UserError."""
    return list(api.get("/api/v1/nodes", labelSelector=f"gpufleet.dev/pool={pool.label}").get("items") or [])


def check_readiness(
    api: KubernetesApi, settings: JobSettings, pool: PoolInfo, wanted: int, nodes: Sequence[KubernetesObject]
) -> list[CheckResult]:
    """Every check that needs no job. Errors: UserError when the cluster does not answer."""
    operator = (
        passed_check("MPI operator", "kubeflow.org/v2beta1 is served")
        if api.find(api_paths.OPERATOR) is not None
        else failed_check("MPI operator", "MPIJob is not known", "install it with `pulumi up`")
    )
    checks = [operator, *check_nodes(pool, wanted, nodes)]
    ready = [node for node in nodes if is_ready(node)]
    if ready:
        checks += _plugins(api, pool, ready)
    checks.append(_volume(api, settings))
    return checks


def _plugins(api: KubernetesApi, pool: PoolInfo, ready: Sequence[KubernetesObject]) -> list[CheckResult]:
    try:
        found = api.get("/apis/apps/v1/daemonsets").get("items") or []
    except KubernetesApiError as error:
        if error.status != 403:
            raise
        return [unknown_check("device plugin", str(error), "ask somebody who may list DaemonSets")]
    checks = [_plugin(api, "device plugin", _called(found, _PLUGIN), ready)]
    if pool.efa:
        checks.append(_plugin(api, "EFA plugin", _called(found, _EFA_PLUGIN), ready))
    return checks


def _called(sets: Sequence[KubernetesObject], names: Sequence[str]) -> list[KubernetesObject]:
    def runs(each: Mapping[str, Any]) -> bool:
        template = each["spec"]["template"]
        label = ((template.get("metadata") or {}).get("labels") or {}).get("app.kubernetes.io/name")
        images = [str(each.get("image") or "") for each in template["spec"].get("containers") or []]
        return label in names or any(_image_name(image) in names for image in images)

    return [each for each in sets if runs(each)]


def _image_name(image: str) -> str:
    """registry:5000/nvidia/k8s-device-plugin:v0.20.0@sha256:... is k8s-device-plugin."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _plugin(
    api: KubernetesApi, subject: str, sets: Sequence[KubernetesObject], ready: Sequence[KubernetesObject]
) -> CheckResult:
    """Whether a plugin is up on each of these nodes; how it is on others does not count."""
    if not sets:
        if subject == "device plugin" and all(node["status"].get("allocatable", {}).get(GPU) for node in ready):
            return passed_check(subject, "no DaemonSet, but every node tells its GPUs: the node's image brings it")
        return failed_check(subject, "there is no DaemonSet of it", "install it with `pulumi up`")
    wanted = {node["metadata"]["name"] for node in ready}
    try:
        up = [_up_on(api, each) & wanted for each in sets]
    except KubernetesApiError as error:
        if error.status != 403:
            raise
        return unknown_check(subject, str(error), "ask somebody who may list pods there")
    # Each kind of node may have its own.
    missing = wanted.difference(*up)
    best = sets[max(range(len(sets)), key=lambda number: len(up[number]))]["metadata"]
    name = f"{best['namespace']}/{best['name']}"
    if not missing:
        return passed_check(subject, f"{name} is up on {len(wanted)} nodes")
    found = f"{name} is up on {len(wanted) - len(missing)} of {len(wanted)} nodes, not on {format_name_ranges(missing)}"
    return failed_check(subject, found, f"see `kubectl describe daemonset -n {best['namespace']} {best['name']}`")


def _up_on(api: KubernetesApi, daemon_set: KubernetesObject) -> set[str]:
    """Names of the nodes on which a DaemonSet has a ready pod. Errors: UserError; KubernetesApiError if not allowed."""
    labels = daemon_set["spec"]["selector"].get("matchLabels") or {}
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    pods = (
        api.get(api_paths.core(daemon_set["metadata"]["namespace"], "pods"), labelSelector=selector).get("items") or []
    )
    return {str(pod["spec"].get("nodeName")) for pod in pods if _is_ready(pod)}


def _is_ready(pod: KubernetesObject) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _volume(api: KubernetesApi, settings: JobSettings) -> CheckResult:
    claim = settings.volume_claim
    if claim is None:
        return unknown_check(
            "shared volume", "the environment's outputs have no claim", "run `pulumi up` with shared files"
        )
    found = api.find(api_paths.core(settings.namespace, "persistentvolumeclaims", claim))
    if found is None:
        return failed_check(
            "shared volume", f"no claim {claim} in namespace {settings.namespace}", "`pulumi up` makes it"
        )
    phase = str((found.get("status") or {}).get("phase"))
    modes = (found.get("spec") or {}).get("accessModes") or []
    if phase != "Bound":
        return failed_check(
            "shared volume", f"claim {claim} is {phase}", f"see `kubectl describe pvc -n {settings.namespace} {claim}`"
        )
    if "ReadWriteMany" not in modes:
        return failed_check(
            "shared volume", f"claim {claim} is {', '.join(modes)}", "use a volume that many nodes can write"
        )
    return passed_check("shared volume", f"claim {claim} is bound, ReadWriteMany")
