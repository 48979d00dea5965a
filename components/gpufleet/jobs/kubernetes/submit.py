"""Submit a job: check that the cluster has what it needs, then create it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesObject
from gpufleet.jobs.kubernetes.gpu_capacity import gpu_capacity_error
from gpufleet.jobs.kubernetes.job_kind import kind_of, part_of
from gpufleet.jobs.kubernetes.jobs import look_up_job
from gpufleet.jobs.kubernetes.operator_check import operator_error
from gpufleet.jobs.kubernetes.secrets import secrets_of
from gpufleet.jobs.kubernetes.volume_affinity import volume_zone_error

Note = Callable[[str], None]
_PUT = "store it with `gpufleet secrets put`"


def create_job(api: KubernetesApi, manifest: Mapping[str, Any], note: Note) -> KubernetesObject:
    """Create the job and return it as the API server keeps it. note: called with what could not be read.

    Errors: UserError with a line for everything that the cluster lacks, or for a name that is taken.
    """
    lines = list(missing_prerequisites(api, manifest, note))
    if lines:
        raise UserError("\n".join(lines))
    name, namespace = manifest["metadata"]["name"], manifest["metadata"]["namespace"]
    kind = kind_of(manifest)
    taken = UserError(
        f"{name}: the name is already used by another job in namespace {namespace}; give another --name, or "
        "`gpufleet jobs cancel` that one"
    )
    try:
        other = look_up_job(api, namespace, name)
        if other is not None and kind_of(other) is not kind:
            raise taken
        return api.create(kind.jobs(namespace), manifest)
    except KubernetesApiError as error:
        if error.status == 409:
            raise taken from error
        if error.status in (400, 422):
            raise UserError(f"{name}: Kubernetes rejected the job: {error}") from error
        raise


def missing_prerequisites(api: KubernetesApi, manifest: Mapping[str, Any], note: Note) -> Iterator[str]:
    """What the cluster lacks for the job, one line each. Anything we lack permission to read is reported as a note."""
    name, namespace = manifest["metadata"]["name"], manifest["metadata"]["namespace"]
    fault = operator_error(api, kind_of(manifest))
    if fault:
        yield f"{name}: {fault}"
        return
    if _missing(api, f"/api/v1/namespaces/{namespace}", note):
        yield f"{name}: namespace={namespace}: namespace not found in {api.where}; `pulumi up` makes it"
        return
    worker = part_of(manifest, kind_of(manifest).worker_pod)
    fault = gpu_capacity_error(api, worker)
    if fault:
        yield f"{name}: {fault}"
    for secret in worker.get("imagePullSecrets") or []:
        if _missing(api, api_paths.core(namespace, "secrets", secret["name"]), note):
            yield (
                f"{name}: image_pull_secret={secret['name']}: secret not found in namespace {namespace}; "
                f"make it with `kubectl create secret docker-registry {secret['name']} -n {namespace} ...`"
            )
    for variable, secret, key in secrets_of(manifest):
        found = _look(api, api_paths.core(namespace, "secrets", secret), note)
        if found is not None and key not in (found.get("data") or {}):
            problem = f"Secret {secret} has no key {key}" if found else f"there is no Secret {secret}"
            yield f"{name}: secrets.{variable}: {problem} in namespace {namespace}; {_PUT}"
    account = worker.get("serviceAccountName")
    if account and _missing(api, api_paths.core(namespace, "serviceaccounts", account), note):
        yield f"{name}: service_account={account}: there is none in namespace {namespace}; `pulumi up` makes it"
    for volume in worker.get("volumes") or []:
        if "persistentVolumeClaim" in volume:
            yield from _claim(api, name, namespace, volume["persistentVolumeClaim"]["claimName"], worker, note)


def _claim(
    api: KubernetesApi, name: str, namespace: str, claim: str, worker: Mapping[str, Any], note: Note
) -> Iterator[str]:
    found = _look(api, api_paths.core(namespace, "persistentvolumeclaims", claim), note)
    if found is None:
        return
    if not found:
        yield (
            f"{name}: volume_claim={claim}: PersistentVolumeClaim not found in namespace {namespace}; "
            "`pulumi up` makes the shared volume's"
        )
        return
    volume = (found.get("spec") or {}).get("volumeName")
    held = _look(api, f"/api/v1/persistentvolumes/{volume}", note) if volume else None
    if held:
        fault = volume_zone_error(api, claim, held, worker, note)
        if fault:
            yield f"{name}: {fault}"


def _missing(api: KubernetesApi, path: str, note: Note) -> bool:
    return _look(api, path, note) == {}


def _look(api: KubernetesApi, path: str, note: Note) -> KubernetesObject | None:
    """An object; {} if there is none, None if we lack permission."""
    try:
        return api.find(path) or {}
    except KubernetesApiError as error:
        if error.status != 403:
            raise
        note(f"not verified: {error}")
        return None
