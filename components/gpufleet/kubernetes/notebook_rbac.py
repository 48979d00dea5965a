"""What a notebook may do in its namespace: submit jobs, follow and end them; and what it knows of its environment."""

from collections.abc import Mapping
from typing import Any

import pulumi

from gpufleet.jobs.notebook_configmap import KEY, NAME
from gpufleet.kubernetes.jupyterhub_values import SERVICE_ACCOUNT


def plan_rights(args: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The service account of notebooks, its role and binding, by a short name each. `args` have passed the rules.

    The role is what `gpufleet.jobs.submit` asks for, and no more: no secrets, no own pods, nothing outside of
    the namespace. Of the namespace, the claim and the service account of jobs it may know that they are there.
    """
    namespace, name = args["namespace"], args.get("service_account", SERVICE_ACCOUNT)
    account: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace},
        "automountServiceAccountToken": True,
    }
    if "pull_secret" in args:
        account["imagePullSecrets"] = pulumi.Output.from_input(args["pull_secret"]).apply(
            lambda secret: [{"name": secret}] if secret else []
        )
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": name, "namespace": namespace},
        "rules": [
            _rule("kubeflow.org", "mpijobs", "create", "delete", "get", "list", "watch"),
            _rule("jobset.x-k8s.io", "jobsets", "create", "delete", "get", "list", "watch"),
            _rule("kueue.x-k8s.io", "workloads", "get", "list", "watch"),
            _rule("", "pods", "get", "list", "watch"),
            _rule("", "pods/log", "get"),
            _rule("", "events", "get", "list", "watch"),
            _rule("", "configmaps", "get"),
            _rule("", "namespaces", "get"),
            _rule("", "persistentvolumeclaims", "get"),
            _rule("", "serviceaccounts", "get"),
        ],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    return {"service-account": account, "role": role, "role-binding": binding}


def plan_jobs_configmap(args: Mapping[str, Any]) -> dict[str, Any]:
    """The ConfigMap with the settings of jobs, which `gpufleet.jobs.submit` reads. `args` have passed the rules."""
    settings = {"environment": args["environment"], "jobs": args["jobs"]}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": args["namespace"]},
        "data": {KEY: pulumi.Output.json_dumps(settings, sort_keys=True)},
    }


def _rule(group: str, resource: str, *verbs: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
