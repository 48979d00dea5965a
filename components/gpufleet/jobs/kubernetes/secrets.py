"""Secret variables of jobs on Kubernetes: keys of Secrets in the team's namespace, which pods get by reference.

Source: kubernetes.io/docs/concepts/configuration/secret (env valueFrom secretKeyRef).
"""

import base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.job_kind import kind_of, part_of

if TYPE_CHECKING:
    from gpufleet.jobs.kubernetes.api import KubernetesApi

DEFAULT_KEY = "value"
"""Key of a Secret that a reference without a key means, and that `gpufleet secrets put` writes."""
LABEL = "gpufleet.dev/job-secret"
"""Label of the Secrets that `gpufleet secrets put` has made; it writes no others."""


def secret_key(reference: str) -> tuple[str, str]:
    """Name and key of a Secret, of SECRET or SECRET/KEY."""
    name, _, key = reference.partition("/")
    return name, key or DEFAULT_KEY


def secret_variables(secrets: Mapping[str, str]) -> list[dict[str, Any]]:
    """The variables of a container that come from Secrets, sorted by name."""
    found = []
    for variable, reference in sorted(secrets.items()):
        name, key = secret_key(reference)
        found.append({"name": variable, "valueFrom": {"secretKeyRef": {"name": name, "key": key}}})
    return found


def secrets_of(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Variable, Secret and key of each secret variable of a job."""
    process = part_of(manifest, kind_of(manifest).process_pod)["containers"][0]
    for each in process.get("env") or []:
        if "valueFrom" in each:
            reference = each["valueFrom"]["secretKeyRef"]
            yield each["name"], reference["name"], reference["key"]


def put_secret(api: "KubernetesApi", namespace: str, environment: str, name: str, value: str) -> str:
    """Store a value as the key `value` of a Secret. Returns where it is.

    Errors: UserError for a Secret that somebody else has made; it stays as it is.
    """
    from gpufleet.jobs.kubernetes.api_paths import core

    data = {DEFAULT_KEY: base64.b64encode(value.encode()).decode()}
    found = api.find(core(namespace, "secrets", name))
    if found is None:
        labels = {LABEL: "true", "gpufleet.dev/environment": environment}
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        body = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata, "data": data}
        api.create(core(namespace, "secrets"), body)
    elif LABEL in (found["metadata"].get("labels") or {}):
        api.patch(core(namespace, "secrets", name), {"data": data})
    else:
        raise UserError(
            f"{name}: namespace {namespace} has a Secret of this name that `gpufleet secrets put` did not make; use "
            f"another name, or change it with kubectl"
        )
    return f"Secret {name} in namespace {namespace}"
