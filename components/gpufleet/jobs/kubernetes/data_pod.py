"""A pod that mounts the shared volume for as long as one copies."""

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.pending_pods import pending_reason
from gpufleet.jobs.settings import JobSettings
from gpufleet.users.user import User

IMAGE = "busybox:1.37"
"""Any image with sh and sha256sum does."""
START_SECONDS = 300.0
_LIFE_SECONDS = 24 * 3600
"""A pod that nobody could delete, because this machine died, ends by itself."""
_WAIT = ("sh", "-c", f"trap 'exit 0' TERM; sleep {_LIFE_SECONDS} & wait")
_USER = 1000
"""The same as that of jobs: see MpiJobArgs.uid."""


def data_pod(
    settings: JobSettings, name: str, image: str, user: User | None = None, command: Sequence[str] = _WAIT
) -> dict[str, Any]:
    """The pod's manifest. user: whose files it writes; None: uid 1000, as jobs do without users. command: what it runs;
    default: nothing, until it is deleted.

    Errors: UserError when the environment has no shared volume.
    """
    if settings.volume_claim is None:
        raise UserError(f"{settings.environment}: it has no shared volume; its outputs have no claim")
    container = {
        "name": "data",
        "image": image,
        "command": [*command],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        "volumeMounts": [{"name": "shared-files", "mountPath": "/mnt"}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    uid, gid = (user.uid, user.gid) if user else (_USER, _USER)
    security: dict[str, Any] = {"runAsUser": uid, "runAsGroup": gid, "runAsNonRoot": True}
    if user and user.groups:
        security["supplementalGroups"] = list(user.groups)
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "activeDeadlineSeconds": _LIFE_SECONDS,
        "securityContext": {**security, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "shared-files", "persistentVolumeClaim": {"claimName": settings.volume_claim}}],
    }
    if settings.image_pull_secret:
        spec["imagePullSecrets"] = [{"name": settings.image_pull_secret}]
    labels = {"gpufleet.dev/purpose": "data"} | ({"gpufleet.dev/user": user.name} if user else {})
    metadata = {"name": name, "namespace": settings.namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@contextmanager
def running_data_pod(
    api: KubernetesApi, settings: JobSettings, image: str = IMAGE, name: str = "", user: User | None = None
) -> Iterator[str]:
    """The name of a pod that runs, deleted at the end. Errors: UserError, with what it waits for if it never runs."""
    name = name or f"data-{secrets.token_hex(4)}"
    api.create(api_paths.core(settings.namespace, "pods"), data_pod(settings, name, image, user))
    try:
        if wait_for_start(api, settings, name) != "Running":
            raise UserError(f"{name}: the pod for copying ended at once; give an image with sh: --image")
        yield name
    finally:
        with suppress(UserError):
            api.delete(api_paths.core(settings.namespace, "pods", name), gracePeriodSeconds=0)


def wait_for_start(api: KubernetesApi, settings: JobSettings, name: str) -> str:
    """The pod's phase as soon as it runs, or has ended. Errors: UserError, with what it waits for if it never runs."""
    end = time.monotonic() + START_SECONDS
    why: str | None = None
    while time.monotonic() < end:
        pod: Mapping[str, Any] = api.get(api_paths.core(settings.namespace, "pods", name))
        phase = (pod.get("status") or {}).get("phase")
        if phase in ("Running", "Failed", "Succeeded"):
            return str(phase)
        why = pending_reason(pod)
        if why and why.startswith(("ErrImagePull", "ImagePullBackOff", "InvalidImageName")):
            break
        time.sleep(1)
    raise UserError(f"{name}: the pod for copying does not start: {why or 'no reason is reported'}")
