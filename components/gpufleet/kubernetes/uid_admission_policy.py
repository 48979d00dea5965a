"""A team's users as a lock: the shared files are mounted only by pods under the ids of the team's users."""

from collections.abc import Mapping
from typing import Any

CLAIM = "shared"
"""The claim of the shared files, as SharedVolume calls it by default."""
_FILES = "v.?persistentVolumeClaim.claimName.orValue('') == '{claim}' || has(v.csi)"
_CONTAINERS = "(s.containers + s.?initContainers.orValue([]) + s.?ephemeralContainers.orValue([]))"
_OF_CONTAINER = "string(c.?securityContext.?{field}.or(s.?securityContext.?{field}).orValue('unset'))"


def plan_uid_admission_policy(args: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The ValidatingAdmissionPolicy and its binding to the namespace, by a short name each; none without users.

    args: TeamArgs that have passed the rules. Needs Kubernetes 1.30. Source:
    kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/.

    Pods are validated at creation, no matter who creates them: a person, the MPI operator, the hub. MPIJobs are
    validated too, so that anyone who submits one gets the error at once, not in its events. Updates are not validated,
    because a running pod of a user who has left the team must still be deletable; ephemeral containers, added by an
    update, are.

    Pods without the files may run under any id: JupyterHub's own, a database, a probe of the network. A volume of a
    CSI driver inside of a pod counts as the files, because some drivers mount any share that a pod names.
    """
    users = args.get("users", {})
    if not users:
        return {}
    namespace, name = args["namespace"], f"{args['namespace']}-users"
    uids = sorted({str(int(user["uid"])) for user in users.values()}, key=int)
    gids = {str(int(user["gid"])) for user in users.values()}
    gids |= {str(int(args["gid"]))} if args.get("gid") is not None else set()
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    _resources("", "v1", "pods", "CREATE"),
                    _resources("", "v1", "pods/ephemeralcontainers", "UPDATE"),
                    _resources("kubeflow.org", "v2beta1", "mpijobs", "CREATE"),
                ]
            },
            "variables": _variables(args.get("volume_claim", CLAIM), uids, sorted(gids, key=int)),
            "validations": [
                _validation("uids", "runAsUser", "is not a uid", namespace),
                _validation("gids", "runAsGroup, fsGroup or supplementalGroups", "is not a gid", namespace),
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}},
        },
    }
    return {"user-lock": policy, "user-lock-binding": binding}


def _resources(group: str, version: str, resource: str, operation: str) -> dict[str, Any]:
    return {"apiGroups": [group], "apiVersions": [version], "resources": [resource], "operations": [operation]}


def _variables(claim: str, uids: list[str], gids: list[str]) -> list[dict[str, str]]:
    """What the validations are written in. `uids` and `gids` of the policy are the pods' ids that are not the team's.

    A container's own id wins over its pod's; without either it would be the image's, which nobody knows here.
    """
    templates = "object.spec.mpiReplicaSpecs"
    pods = f"request.resource.resource == 'mpijobs' ? {templates}.map(r, {templates}[r].template.spec) : [object.spec]"
    of_container = {
        field: f"s, {_CONTAINERS}.map(c, {_OF_CONTAINER.format(field=field)})" for field in ("runAsUser", "runAsGroup")
    }
    of_pod = (
        "s, (s.?securityContext.?supplementalGroups.orValue([]) + "
        "(has(s.securityContext) && has(s.securityContext.fsGroup) ? [s.securityContext.fsGroup] : []))"
        ".map(g, string(g))"
    )
    listed = {"uids": f"variables.files.map({of_container['runAsUser']})"}
    listed["gids"] = f"variables.files.map({of_container['runAsGroup']}) + variables.files.map({of_pod})"
    legal = {"uids": uids, "gids": gids}
    foreign = {
        kind: f"({each}).map(ids, ids.filter(i, !(i in {legal[kind]})).join(', ')).filter(t, t != '').join(', ')"
        for kind, each in listed.items()
    }
    files = f"variables.pods.filter(s, s.?volumes.orValue([]).exists(v, {_FILES.format(claim=claim)}))"
    expressions = {"pods": pods, "files": files, **foreign}
    return [{"name": name, "expression": expression} for name, expression in expressions.items()]


def _validation(kind: str, fields: str, problem: str, namespace: str) -> dict[str, str]:
    fix = "pods with the shared files set those of gpufleet:team.users, as `gpufleet jobs submit` does"
    message = f"'{fields}=' + variables.{kind} + ': {problem} of team {namespace}; {fix}'"
    return {"expression": f"variables.{kind} == ''", "messageExpression": message, "reason": "Forbidden"}
