"""Notebooks: the chart with its values, the rights of notebooks, and what they are told."""

import json

import pulumi

from gpufleet.kubernetes.jupyterhub_config import START
from gpufleet.kubernetes.jupyterhub_values import hub_code
from gpufleet.kubernetes.notebook_profiles import plan_profiles
from gpufleet.kubernetes.notebooks import Notebooks
from tests.components.recorder import Secret, construct, refusal

RBAC = "rbac.authorization.k8s.io/v1"
PLACE = {"name": "notebook", "namespace": "vision"}
LABELS = {"owner": "lab"}
POOLS = {"a10g": {"gpu": "A10G", "gpus": 4, "usd_per_hour": 4.04}}
IMAGES = ["registry.example.com/notebook:1"]
ARGS = {
    "namespace": "vision",
    "environment": "lab",
    "host": "notebooks.example.com",
    "pools": POOLS,
    "images": IMAGES,
    "volume_claim": "shared",
    "users": {"ana": {"uid": 1501, "gid": 1500}},
    "admins": ["ana"],
    "oidc": {
        "client_id": "hub",
        "client_secret": "never shown",
        "authorize_url": "https://login.example.com/authorize",
        "token_url": "https://login.example.com/token",
        "userdata_url": "https://login.example.com/userinfo",
    },
    "tls": {"secret": "hub-tls"},
    "pull_secret": "registry",
    "proxy_token": "0" * 64,
    "storage_class": "gp3",
    "node_selector": {"zone": "a"},
    "taints": [{"key": "team", "effect": "NO_SCHEDULE"}],
    "jobs": {"namespace": "vision", "volume_claim": "shared", "pools": {}},
    "labels": LABELS,
}
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
NOBODY = {"runAsUser": 65534, "runAsGroup": 65534, **RESTRICTED}
POLICY = {"egressAllowRules": {"cloudMetadataServer": False}}
TOLERATIONS = [
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "team", "operator": "Exists", "effect": "NoSchedule"},
]
OFF_GPUS = [
    {"weight": 100, "preference": {"matchExpressions": [{"key": "gpufleet.dev/gpu", "operator": "DoesNotExist"}]}}
]
NODES = {
    "nodeSelector": {"zone": "a"},
    "tolerations": TOLERATIONS,
    "extraPodSpec": {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": OFF_GPUS}}},
}


def made(args, preview):
    return construct(lambda: Notebooks("notebooks", args), preview)


def test_the_chart(preview):
    release = made(ARGS, preview).one("kubernetes:helm.sh/v3:Release")
    inputs = dict(release.inputs)
    values = inputs.pop("values")
    assert inputs == {
        "chart": "jupyterhub",
        "version": "4.4.0",
        "name": "jupyterhub",
        "namespace": "vision",
        "createNamespace": True,
        "atomic": True,
        "timeout": 600,
        "repositoryOpts": {"repo": "https://jupyterhub.github.io/helm-chart"},
    }
    assert release.depends_on == {
        "notebooks-service-account",
        "notebooks-role",
        "notebooks-role-binding",
        "notebooks-jobs",
    }
    oidc = ARGS["oidc"]
    assert values == {
        "hub": {
            "config": {
                "KubeSpawner": {"container_security_context": RESTRICTED},
                "JupyterHub": {"authenticator_class": "generic-oauth"},
                "GenericOAuthenticator": {
                    "client_id": "hub",
                    "client_secret": Secret("never shown"),
                    "oauth_callback_url": "https://notebooks.example.com/hub/oauth_callback",
                    "authorize_url": oidc["authorize_url"],
                    "token_url": oidc["token_url"],
                    "userdata_url": oidc["userdata_url"],
                    "scope": ["openid", "profile", "email"],
                    "username_claim": "preferred_username",
                    "login_service": "OpenID Connect",
                },
                "Authenticator": {"admin_users": ["ana"], "allowed_users": ["ana"]},
            },
            "db": {"type": "sqlite-pvc", "pvc": {"storageClassName": "gp3"}},
            **NODES,
            "extraConfig": {"gpufleet": hub_code(ARGS)},
            "containerSecurityContext": {"runAsUser": 1000, "runAsGroup": 1000, **RESTRICTED},
            "networkPolicy": POLICY,
            "labels": LABELS,
        },
        "proxy": {
            "service": {"type": "LoadBalancer"},
            "https": {
                "enabled": True,
                "type": "secret",
                "secret": {"name": "hub-tls"},
                "hosts": ["notebooks.example.com"],
            },
            "chp": {"containerSecurityContext": NOBODY, "networkPolicy": POLICY, **NODES},
            "traefik": {"containerSecurityContext": NOBODY, "networkPolicy": POLICY, **NODES},
            "secretSync": {"containerSecurityContext": NOBODY},
            "secretToken": Secret("0" * 64),
        },
        "singleuser": {
            "image": {"name": "registry.example.com/notebook", "tag": "1"},
            "cmd": ["/bin/sh", "-c", START, "sh", "jupyterhub-singleuser"],
            "serviceAccountName": "notebook",
            "nodeSelector": {"zone": "a"},
            "extraTolerations": TOLERATIONS,
            "extraNodeAffinity": {"preferred": OFF_GPUS},
            "extraLabels": {
                "hub.jupyter.org/network-access-hub": "true",
                "gpufleet.dev/purpose": "notebook",
                "gpufleet.dev/team": "vision",
                "gpufleet.dev/user": "{username}",
                **LABELS,
            },
            "extraAnnotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
            "storage": {
                "type": "none",
                "extraVolumes": [{"name": "shared-files", "persistentVolumeClaim": {"claimName": "shared"}}],
                "extraVolumeMounts": [{"name": "shared-files", "mountPath": "/mnt"}],
            },
            "cloudMetadata": {"blockWithIptables": False},
            "networkPolicy": {"egressAllowRules": {"cloudMetadataServer": False, "privateIPs": True}},
            "profileList": plan_profiles(POOLS, IMAGES, {}),
            "startTimeout": 1200,
        },
        "cull": {"enabled": True, "timeout": 3600, "every": 600, "maxAge": 0},
        "scheduling": {
            "userScheduler": {"enabled": False},
            "userPlaceholder": {"enabled": False},
            "corePods": {"nodeAffinity": {"matchNodePurpose": "ignore"}},
        },
        "prePuller": {"hook": {"enabled": False}, "continuous": {"enabled": False}},
    }


def test_rights_of_notebooks(preview):
    recording = made(ARGS, preview)

    def rule(group: str, resource: str, *verbs: str) -> dict:
        return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}

    metadata = {**PLACE, "labels": LABELS}
    assert recording.one("kubernetes:core/v1:ServiceAccount").inputs == {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata,
        "automountServiceAccountToken": True,
        "imagePullSecrets": [{"name": "registry"}],
    }
    look = ("get", "list", "watch")
    assert recording.one("kubernetes:rbac.authorization.k8s.io/v1:Role").inputs == {
        "apiVersion": RBAC,
        "kind": "Role",
        "metadata": metadata,
        "rules": [
            rule("kubeflow.org", "mpijobs", "create", "delete", *look),
            rule("jobset.x-k8s.io", "jobsets", "create", "delete", *look),
            rule("kueue.x-k8s.io", "workloads", *look),
            rule("", "pods", *look),
            rule("", "pods/log", "get"),
            rule("", "events", *look),
            rule("", "configmaps", "get"),
            rule("", "namespaces", "get"),
            rule("", "persistentvolumeclaims", "get"),
            rule("", "serviceaccounts", "get"),
        ],
    }
    assert recording.one("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding").inputs == {
        "apiVersion": RBAC,
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "notebook"},
        "subjects": [{"kind": "ServiceAccount", **PLACE}],
    }


def test_what_notebooks_are_told(preview):
    recording = made(ARGS, preview)
    told = recording.one("kubernetes:core/v1:ConfigMap").inputs
    assert told["metadata"] == {"name": "gpufleet-jobs", "namespace": "vision", "labels": LABELS}
    assert json.loads(told["data"]["jobs.json"]) == {"environment": "lab", "jobs": ARGS["jobs"]}
    assert recording.outputs["notebooks"] == {"address": "https://notebooks.example.com", "port_forward": ""}


def test_without_jobs_and_certificate(preview):
    left_out = ("jobs", "tls", "oidc", "pull_secret", "proxy_token")
    args = {key: value for key, value in ARGS.items() if key not in left_out} | {"environment": "lab-dev"}
    recording = made(args, preview)
    assert recording.names("kubernetes:core/v1:ConfigMap") == []
    assert "imagePullSecrets" not in recording.one("kubernetes:core/v1:ServiceAccount").inputs
    way = "kubectl port-forward -n vision service/proxy-public 8000:http"
    assert recording.outputs["notebooks"] == {"address": "http://notebooks.example.com", "port_forward": way}
    service = recording.one("kubernetes:helm.sh/v3:Release").inputs["values"]["proxy"]["service"]
    assert service == {"type": "ClusterIP"}


def test_least_configuration_is_reached_by_port_forward(preview):
    least = ("namespace", "pools", "images", "volume_claim", "storage_class")
    recording = made({"environment": "lab-dev", **{key: ARGS[key] for key in least}}, preview)
    way = "kubectl port-forward -n vision service/proxy-public 8000:http"
    assert recording.outputs["notebooks"] == {"address": "http://localhost:8000", "port_forward": way}


def test_dummy_login_for_strangers_is_refused(preview):
    args = {key: value for key, value in ARGS.items() if key not in ("oidc", "tls")} | {"environment": "lab-dev"}

    def told(**more: object) -> list[str]:
        return refusal(lambda: Notebooks("notebooks", {**args, **more}), preview)

    inside = "use ClusterIP without an ingress, or OIDC"
    strangers = "lets strangers reach the dummy login, which accepts any name; " + inside
    name = "[any-notebooks-dummy-login]"
    assert told(service="LoadBalancer") == [f"notebooks: service=LoadBalancer: {strangers} {name}"]
    assert told(service="LoadBalancer", dummy_password="x") == [f"notebooks: service=LoadBalancer: {strangers} {name}"]
    assert told(values={"ingress": {"enabled": True}}) == [f"notebooks: values.ingress=enabled: {strangers} {name}"]
    internal = {"service.beta.kubernetes.io/aws-load-balancer-internal": "true"}
    network = {"service": "LoadBalancer", "service_annotations": internal}
    assert told(**network) == [
        "notebooks: service=LoadBalancer: lets the network reach a dummy login without password; "
        f"{inside}, or set a password {name}"
    ]
    recording = made({**args, **network, "dummy_password": "x"}, preview)
    assert recording.outputs["notebooks"] == {"address": "http://notebooks.example.com", "port_forward": ""}


def test_database_without_a_storage_class_is_refused(preview):
    args = {key: value for key, value in ARGS.items() if key != "storage_class"}
    assert refusal(lambda: Notebooks("notebooks", args), preview) == [
        "notebooks: storage_class=null: leaves the hub without a volume for its database; name one of "
        "`kubectl get storageclass`, or set database=memory [any-notebooks-database]"
    ]
    values = made({**args, "database": "memory"}, preview).one("kubernetes:helm.sh/v3:Release").inputs["values"]
    assert values["hub"]["db"] == {"type": "sqlite-memory"}


def test_outputs_of_other_resources_are_taken(preview):
    def build():
        claim = pulumi.Output.from_input("files")
        jobs = {"namespace": pulumi.Output.from_input("vision")}
        return Notebooks("notebooks", {**ARGS, "volume_claim": claim, "jobs": jobs})

    recording = construct(build, preview)
    storage = recording.one("kubernetes:helm.sh/v3:Release").inputs["values"]["singleuser"]["storage"]
    assert storage["extraVolumes"] == [{"name": "shared-files", "persistentVolumeClaim": {"claimName": "files"}}]
    told = recording.one("kubernetes:core/v1:ConfigMap").inputs["data"]["jobs.json"]
    assert json.loads(told)["jobs"] == {"namespace": "vision"}


def test_refused_with_every_fault(preview):
    wrong = {"oidc": {"client_id": "hub"}, "tls": {}, "host": "https://hub", "pools": {}, "admins": ["bo"]}
    assert refusal(lambda: Notebooks("notebooks", {**ARGS, **wrong}), preview) == [
        "notebooks: tls=null: sends logins in the clear; give tls.secret (a kubernetes.io/tls secret of the namespace) "
        "or tls.letsencrypt_email [any-notebooks-tls]",
        "notebooks: host=https://hub: is not a DNS name; use a name such as notebooks.example.com [any-notebooks-host]",
        "notebooks: oidc=[client_id]: lacks client_secret, authorize_url, token_url and userdata_url; take them from "
        "the provider, see <issuer>/.well-known/openid-configuration [any-notebooks-oidc]",
        "notebooks: admins=bo: has no uid in users; use ana [any-notebooks-user]",
    ]
