"""The environment that a pod is in, as its own service account may see it."""

import os
from pathlib import Path
from typing import Any

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.notebook_configmap import KEY, NAME
from gpufleet.jobs.settings import JobSettings, read_settings

SECRETS = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Source: kubernetes.io/docs/tasks/run-application/access-api-from-pod."""


def in_cluster_settings() -> JobSettings:
    """What the jobs of this pod's environment need to know. Errors: UserError outside of a notebook of gpufleet."""
    namespace, kubeconfig = _own_namespace(), _kubeconfig()
    api = KubernetesApi.of(kubeconfig, "notebook")
    found = api.find(api_paths.core(namespace, "configmaps", NAME))
    text = ((found or {}).get("data") or {}).get(KEY)
    if not text:
        raise UserError(
            f"notebook: namespace {namespace} has no ConfigMap {NAME}, which tells of its pools; `pulumi up` makes "
            "it with gpufleet:notebooks"
        )
    try:
        told = parse_json(text, NAME)
        environment, jobs = str(told["environment"]), dict(told["jobs"])
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"notebook: ConfigMap {NAME}: {KEY} is not what `pulumi up` writes; run it again") from error
    # Pods of jobs have their service account's login; a notebook may not look whether there is a secret.
    jobs.pop("image_pull_secret", None)
    return read_settings({"kubeconfig": kubeconfig, "jobs": {**jobs, "namespace": namespace}}, environment)


def _own_namespace() -> str:
    try:
        return (SECRETS / "namespace").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise UserError(
            f"notebook: {SECRETS} is not there: this is not a pod in a cluster; use `gpufleet jobs submit ENVIRONMENT`"
        ) from error


def _kubeconfig() -> dict[str, Any]:
    """The pod's own credentials. The kubelet writes the token again before it expires; it is read on each
    connection."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise UserError("notebook: KUBERNETES_SERVICE_HOST is not set: this is not a pod in a cluster")
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    cluster = {"server": server, "certificate-authority": str(SECRETS / "ca.crt")}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "notebook",
        "clusters": [{"name": "notebook", "cluster": cluster}],
        "users": [{"name": "notebook", "user": {"tokenFile": str(SECRETS / "token")}}],
        "contexts": [{"name": "notebook", "context": {"cluster": "notebook", "user": "notebook"}}],
    }
