"""What a team's groups may do, asked of a real API server: their work, and nothing that keeps others out."""

from collections.abc import Iterator

import pytest
import yaml

from gpufleet.kubernetes.team import plan_namespace, plan_network_policies
from gpufleet.kubernetes.team_role import plan_team_role
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.programs import programs

GROUP = "lab-vision"
OLD = "lab-old"
"""A group that has Kubernetes' own role `edit`, as teams had before: what a question would have been answered to it."""

WORK = [
    ("create", "kubeflow.org", "mpijobs"),
    ("delete", "kubeflow.org", "mpijobs"),
    ("list", "", "events"),
    ("get", "", "pods/log"),
    ("create", "", "pods/exec"),
    ("get", "", "pods/portforward"),
    ("create", "", "secrets"),
    ("delete", "batch", "jobs"),
    ("list", "networking.k8s.io", "networkpolicies"),
    ("list", "", "resourcequotas"),
]
NOT_ANY_MORE = [
    ("delete", "networking.k8s.io", "networkpolicies"),
    ("create", "networking.k8s.io", "networkpolicies"),
    ("patch", "networking.k8s.io", "networkpolicies"),
    ("deletecollection", "networking.k8s.io", "networkpolicies"),
    ("impersonate", "", "serviceaccounts"),
    ("create", "", "serviceaccounts/token"),
    ("create", "", "serviceaccounts"),
    ("get", "", "secrets"),
    ("list", "", "secrets"),
    ("create", "networking.k8s.io", "ingresses"),
]
"""What `edit` gives."""
NEVER = [
    ("create", "rbac.authorization.k8s.io", "rolebindings"),
    ("escalate", "rbac.authorization.k8s.io", "roles"),
    ("update", "", "resourcequotas"),
    ("patch", "", "namespaces"),
    ("create", "", "pods/ephemeralcontainers"),
    ("update", "kueue.x-k8s.io", "localqueues"),
    ("update", "kueue.x-k8s.io", "workloads"),
]


@pytest.fixture(scope="module")
def team(operator: ControlPlane) -> Iterator[str]:
    namespace = "team-role"
    args = {"namespace": namespace, "groups": [GROUP]}
    objects = plan_team_role(args)
    old = {
        **objects["role-binding"],
        "metadata": {"name": "old", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": OLD}],
    }
    for document in (plan_namespace(args), *plan_network_policies(args).values(), *objects.values(), old):  # type: ignore[arg-type]
        operator.client.apply(document)
    yield namespace
    operator.client.delete(f"/api/v1/namespaces/{namespace}")


def allowed(plane: ControlPlane, group: str, namespace: str, verb: str, api: str, resource: str) -> bool:
    """What the API server's authorizer answers for a member of ``group``: a SubjectAccessReview."""
    kind, _, part = resource.partition("/")
    asked = {"namespace": namespace, "verb": verb, "group": api, "resource": kind, "subresource": part}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": "ana", "groups": [group, "system:authenticated"], "resourceAttributes": asked},
    }
    answer = plane.client.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


@pytest.mark.parametrize(("verb", "api", "resource"), WORK)
def test_a_team_may_do_its_work(operator: ControlPlane, team: str, verb: str, api: str, resource: str) -> None:
    assert allowed(operator, GROUP, team, verb, api, resource)
    assert not allowed(operator, GROUP, "default", verb, api, resource)


@pytest.mark.parametrize(("verb", "api", "resource"), NOT_ANY_MORE)
def test_what_edit_gives_and_a_team_has_not(
    operator: ControlPlane, team: str, verb: str, api: str, resource: str
) -> None:
    assert allowed(operator, OLD, team, verb, api, resource)
    assert not allowed(operator, GROUP, team, verb, api, resource)


@pytest.mark.parametrize(("verb", "api", "resource"), NEVER)
def test_a_team_has_no_more_than_edit(operator: ControlPlane, team: str, verb: str, api: str, resource: str) -> None:
    assert not allowed(operator, GROUP, team, verb, api, resource)


def test_every_rule_of_the_role_is_of_resources_that_there_are(operator: ControlPlane, team: str) -> None:
    """But for Kueue's and the metrics server's, which this control plane has not. JobSet's are by its definition."""
    jobset = yaml.safe_load(programs()["jobset"].file("jobset.x-k8s.io_jobsets.yaml").read_text(encoding="utf-8"))
    served = {(jobset["spec"]["group"], jobset["spec"]["names"]["plural"])}
    for root in ("/api/v1", *(f"/apis/{each['preferredVersion']['groupVersion']}" for each in _groups(operator))):
        group = root.split("/")[2] if root.startswith("/apis") else ""
        served |= {(group, each["name"]) for each in operator.client.get(root)["resources"]}
    rules = plan_team_role({"namespace": team, "groups": [GROUP]})["role"]["rules"]
    asked = {(group, resource) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]}
    elsewhere = {each for each in asked if each[0] in ("kueue.x-k8s.io", "metrics.k8s.io")}
    assert asked - served - elsewhere == set()


def _groups(plane: ControlPlane) -> list[dict]:
    groups: list[dict] = plane.client.get("/apis")["groups"]
    return groups
