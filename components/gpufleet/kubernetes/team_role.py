"""The role of a team's groups in its namespace: what its work needs, as data with reasons."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from gpufleet.documents.yaml import read_yaml

ROLE = "team"
"""Name of the role; `team_role.yaml` says what is in it."""
BINDING = "team-groups"
"""Name of its binding to the groups."""


class RoleRule(TypedDict):
    """One rule of the role: these verbs on these resources of these API groups, and why a team needs them."""

    why: str
    groups: Sequence[str]
    resources: Sequence[str]
    verbs: Sequence[str]


@cache
def team_rules() -> Sequence[RoleRule]:
    """All rules of the role."""
    rules: Sequence[RoleRule] = read_yaml(Path(__file__).with_name("team_role.yaml"))
    return rules


def plan_team_role(args: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The role and its binding to the team's groups, by a short name each; none without groups.

    args: TeamArgs that have passed the rules.
    """
    groups = args.get("groups", ())
    if not groups:
        return {}
    group = "rbac.authorization.k8s.io"
    role = {
        "apiVersion": f"{group}/v1",
        "kind": "Role",
        "metadata": {"name": ROLE, "namespace": args["namespace"]},
        "rules": [
            {"apiGroups": list(rule["groups"]), "resources": list(rule["resources"]), "verbs": list(rule["verbs"])}
            for rule in team_rules()
        ],
    }
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": BINDING, "namespace": args["namespace"]},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": ROLE},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": each} for each in groups],
    }
    return {"role": role, "role-binding": binding}
