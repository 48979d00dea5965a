"""A team's namespace: exact objects, exceptions, secrets."""

import json

import pytest
from recorder import Secret, construct, refusal

from gpufleet.kubernetes.team import Team, ngc_login

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
                            {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}},
                            {"ipBlock": {"cidr": "::/0"}},
                        ]
                    }
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
        return Team("team", {"namespace": "vision", "docker_config": ngc_login("key")})

    recording = construct(build, preview)
    login = recording.one("kubernetes:core/v1:Secret").inputs["stringData"][".dockerconfigjson"]
    assert isinstance(login, Secret)
    assert json.loads(login.value) == {"auths": {"nvcr.io": {"username": "$oauthtoken", "password": "key"}}}


def test_groups_may_edit(preview):
    _, found = objects({"namespace": "vision", "groups": ["researchers", "leads"]}, preview)
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group"}
    assert found["team-role-binding"] == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "team", "namespace": "vision"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{**group, "name": "researchers"}, {**group, "name": "leads"}],
    }


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
            'docker_config=[secret]: is no registry login; give {"auths": {"<registry>": {"username": ..., '
            '"password": ...}}}, or ngc_login(key) for nvcr.io [any-team-login]',
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
    assert len(objects) == 5
    assert set(objects.values()) == {"team-namespace"}
