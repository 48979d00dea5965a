"""A team's namespace: exact objects, exceptions, secrets."""

import json

import pulumi
import pytest

from gpufleet.kubernetes.pull_secret import registry_login
from gpufleet.kubernetes.team import Team
from gpufleet.kubernetes.team_role import team_rules
from tests.components.recorder import Secret, construct, refusal

NGC_KEY = f"nvapi-{'a' * 64}"
LOGIN = '{"auths": {"registry.example.com": {"auth": "dTpw"}}}'
META = {"name": "trainer", "namespace": "vision"}


def objects(args, preview):
    recording = construct(lambda: Team("team", args), preview)
    return recording, {each.name: each.inputs for each in recording.resources if each.custom}


def test_objects_of_a_team(preview):
    recording, found = objects({"namespace": "vision"}, preview)
    assert found == {
        "team-namespace": {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": "vision",
                "labels": {
                    "pod-security.kubernetes.io/enforce": "restricted",
                    "pod-security.kubernetes.io/warn": "restricted",
                    "pod-security.kubernetes.io/audit": "restricted",
                },
            },
        },
        "team-service-account": {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": META,
            "automountServiceAccountToken": False,
        },
        "team-in-from-team": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "in-from-team", "namespace": "vision"},
            "spec": {
                "podSelector": {},
                "policyTypes": ["Ingress"],
                "ingress": [{"from": [{"podSelector": {}}]}],
            },
        },
        "team-out-but-node-identity": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "out-but-node-identity", "namespace": "vision"},
            "spec": {
                "podSelector": {},
                "policyTypes": ["Egress"],
                "egress": [
                    {
                        "to": [
                            {"namespaceSelector": {}},
                            {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}},
                            {"ipBlock": {"cidr": "::/0"}},
                        ]
                    },
                    {
                        "ports": [
                            {"protocol": "UDP", "port": 53},
                            {"protocol": "TCP", "port": 53},
                            {"protocol": "TCP", "port": 443},
                            {"protocol": "TCP", "port": 6443},
                        ]
                    },
                ],
            },
        },
    }
    assert {each.name: each.depends_on for each in recording.resources if each.custom} == {
        "team-namespace": frozenset(),
        "team-service-account": {"team-namespace"},
        "team-in-from-team": {"team-namespace"},
        "team-out-but-node-identity": {"team-namespace"},
    }
    assert recording.outputs["team"] == {"namespace": "vision", "service_account": "trainer"}


def test_registry_login(preview):
    args = {"namespace": "vision", "docker_config": LOGIN, "pull_secret": "ngc"}
    recording, found = objects(args, preview)
    assert found["team-pull-secret"] == {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/dockerconfigjson",
        "metadata": {"name": "ngc", "namespace": "vision"},
        "stringData": {".dockerconfigjson": Secret(LOGIN)},
    }
    assert found["team-service-account"]["imagePullSecrets"] == [{"name": "ngc"}]
    assert recording.outputs["team"]["pull_secret"] == "ngc"


def test_login_of_ngc(preview):
    def build() -> Team:
        return Team("team", {"namespace": "vision", "docker_config": registry_login(None, "key")})

    recording = construct(build, preview)
    login = recording.one("kubernetes:core/v1:Secret").inputs["stringData"][".dockerconfigjson"]
    assert isinstance(login, Secret)
    assert json.loads(login.value) == {"auths": {"nvcr.io": {"username": "$oauthtoken", "password": "key"}}}


@pytest.mark.parametrize("wrap", [str, pulumi.Output.from_input], ids=["text", "output"])
def test_key_of_ngc_beside_the_teams_own_login(wrap, preview):
    def build() -> Team:
        args = {"namespace": "vision", "docker_config": wrap(LOGIN), "ngc_key": wrap(NGC_KEY)}
        return Team("team", args)

    recording = construct(build, preview)
    login = recording.one("kubernetes:core/v1:Secret", "team-pull-secret").inputs["stringData"][".dockerconfigjson"]
    assert isinstance(login, Secret)
    ngc = {"nvcr.io": {"username": "$oauthtoken", "password": NGC_KEY}}
    assert json.loads(login.value) == {"auths": json.loads(LOGIN)["auths"] | ngc}
    account = recording.one("kubernetes:core/v1:ServiceAccount").inputs
    assert account["imagePullSecrets"] == [{"name": "registry"}]


def test_key_of_ngc_alone(preview):
    recording, found = objects({"namespace": "vision", "ngc_key": NGC_KEY}, preview)
    login = found["team-pull-secret"]["stringData"][".dockerconfigjson"]
    assert isinstance(login, Secret)
    assert list(json.loads(login.value)["auths"]) == ["nvcr.io"]
    assert recording.outputs["team"]["pull_secret"] == "registry"


def test_a_key_that_looks_wrong_is_a_warning_and_not_shown(preview, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", lambda message, *_, **__: said.append(message))
    _, found = objects({"namespace": "vision", "ngc_key": "nvapi-cut-off"}, preview)
    assert said == [
        "team: ngc_key=[secret]: does not look like an API key of NGC, it has 13 characters; copy it from "
        "org.ngc.nvidia.com/setup/api-keys: nvapi- and what follows, in one piece [any-ngc-key-form]"
    ]
    assert "team-pull-secret" in found


def test_groups_have_a_role_of_their_own(preview):
    _, found = objects({"namespace": "vision", "groups": ["researchers", "leads"]}, preview)
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group"}
    assert found["team-role-binding"] == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "team-groups", "namespace": "vision"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "team"},
        "subjects": [{**group, "name": "researchers"}, {**group, "name": "leads"}],
    }
    role = found["team-role"]
    assert role["metadata"] == {"name": "team", "namespace": "vision"}
    assert {"apiGroups": ["kubeflow.org"], "resources": ["mpijobs/status"], "verbs": ["get"]} in role["rules"]
    assert "team-role" not in objects({"namespace": "vision"}, preview)[1]


def test_a_teams_role_has_a_reason_for_each_rule_and_no_wildcard():
    for rule in team_rules():
        assert rule["why"].strip()
        assert "*" not in [*rule["groups"], *rule["resources"], *rule["verbs"]]


def test_exceptions_are_named(preview):
    args = {"namespace": "vision", "pod_security": "privileged", "exception": "IPC_LOCK for InfiniBand"}
    metadata = objects(args, preview)[1]["team-namespace"]["metadata"]
    assert metadata["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert metadata["labels"]["pod-security.kubernetes.io/warn"] == "restricted"
    assert metadata["annotations"] == {"gpufleet.dev/pod-security-exception": "IPC_LOCK for InfiniBand"}


def test_labels_never_lower_pod_security(preview):
    args = {"namespace": "vision", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}
    labels = objects(args, preview)[1]["team-namespace"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {"namespace": "kube-system"},
            "namespace=kube-system: is one of the cluster's own; use a name of the team's, such as vision "
            "[any-team-namespace]",
        ),
        (
            {"pod_security": "baseline"},
            "pod_security=baseline: lets pods do more without a reason; give exception, or use restricted "
            "[any-team-exception]",
        ),
        (
            {"docker_config": "user:hunter2"},
            'docker_config=[secret]: is not a registry login; give {"auths": {"<registry>": {"username": ..., '
            '"password": ...}}}, or ngc_key for nvcr.io [any-team-login]',
        ),
        ({"groups": ["a", "a"]}, "groups=[a, a]: names a twice; name it once [any-argument-distinct]"),
    ],
)
def test_refuses(change, line, preview):
    assert refusal(lambda: Team("team", {"namespace": "vision", **change}), preview) == [f"team: {line}"]


def test_what_is_in_the_namespace_goes_with_it(preview):
    login = '{"auths": {"nvcr.io": {"username": "$oauthtoken", "password": "k"}}}'
    made = construct(lambda: Team("team", {"namespace": "vision", "docker_config": login, "groups": ["g"]}), preview)
    objects = {each.name: each.deleted_with for each in made.resources if each.type.startswith("kubernetes:")}
    assert objects.pop("team-namespace") == ""
    assert len(objects) == 6
    assert set(objects.values()) == {"team-namespace"}


LOCKED = {
    "namespace": "vision",
    "users": {"ben": {"uid": 10001, "gid": 10001}, "ana": {"uid": 1501, "gid": 1500}},
    "gid": 3000,
    "volume_claim": "files",
    "labels": {"gpufleet.dev/environment": "lab"},
}


def test_users_are_a_lock(preview):
    recording, found = objects(LOCKED, preview)
    metadata = {"name": "vision-users", "labels": {"gpufleet.dev/environment": "lab"}}
    containers = "(s.containers + s.?initContainers.orValue([]) + s.?ephemeralContainers.orValue([]))"

    def of_containers(field: str) -> str:
        return (
            f"variables.files.map(s, {containers}.map(c, "
            f"string(c.?securityContext.?{field}.or(s.?securityContext.?{field}).orValue('unset'))))"
        )

    of_pods = (
        "variables.files.map(s, (s.?securityContext.?supplementalGroups.orValue([]) + (has(s.securityContext) && "
        "has(s.securityContext.fsGroup) ? [s.securityContext.fsGroup] : [])).map(g, string(g)))"
    )

    def foreign(ids: str, legal: str) -> str:
        return f"({ids}).map(ids, ids.filter(i, !(i in {legal})).join(', ')).filter(t, t != '').join(', ')"

    fix = "pods with the shared files set those of gpufleet:team.users, as `gpufleet jobs submit` does'"
    assert found["team-user-lock"] == {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": metadata,
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]},
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["pods/ephemeralcontainers"],
                        "operations": ["UPDATE"],
                    },
                    {
                        "apiGroups": ["kubeflow.org"],
                        "apiVersions": ["v2beta1"],
                        "resources": ["mpijobs"],
                        "operations": ["CREATE"],
                    },
                ]
            },
            "variables": [
                {
                    "name": "pods",
                    "expression": "request.resource.resource == 'mpijobs' ? object.spec.mpiReplicaSpecs.map(r, "
                    "object.spec.mpiReplicaSpecs[r].template.spec) : [object.spec]",
                },
                {
                    "name": "files",
                    "expression": "variables.pods.filter(s, s.?volumes.orValue([]).exists(v, "
                    "v.?persistentVolumeClaim.claimName.orValue('') == 'files' || has(v.csi)))",
                },
                {"name": "uids", "expression": foreign(of_containers("runAsUser"), "['1501', '10001']")},
                {
                    "name": "gids",
                    "expression": foreign(f"{of_containers('runAsGroup')} + {of_pods}", "['1500', '3000', '10001']"),
                },
            ],
            "validations": [
                {
                    "expression": "variables.uids == ''",
                    "messageExpression": f"'runAsUser=' + variables.uids + ': is not a uid of team vision; {fix}",
                    "reason": "Forbidden",
                },
                {
                    "expression": "variables.gids == ''",
                    "messageExpression": "'runAsGroup, fsGroup or supplementalGroups=' + variables.gids + "
                    f"': is not a gid of team vision; {fix}",
                    "reason": "Forbidden",
                },
            ],
        },
    }
    assert found["team-user-lock-binding"] == {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata,
        "spec": {
            "policyName": "vision-users",
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "vision"}}},
        },
    }
    # They are in no namespace, and stay behind if nobody deletes them.
    deleted_with = {each.name: each.deleted_with for each in recording.resources if "user-lock" in each.name}
    assert deleted_with == {"team-user-lock": "", "team-user-lock-binding": ""}


def test_claim_of_the_lock_is_a_name(preview):
    [line] = refusal(lambda: Team("team", {**LOCKED, "volume_claim": "it's"}), preview)
    assert line.startswith("team: volume_claim=it's: ")
    assert line.endswith("[any-kubernetes-name]")
