"""The values of JupyterHub's chart, as far as they differ by argument; tests/cluster feeds them to a KubeSpawner."""

import json
from types import SimpleNamespace

import pytest

from gpufleet.kubernetes.chart_values import merged
from gpufleet.kubernetes.jupyterhub_config import NotOfTheTeam
from gpufleet.kubernetes.jupyterhub_values import hub_code, plan_access, plan_values

ARGS = {
    "namespace": "vision",
    "environment": "lab-dev",
    "host": "hub.example.com",
    "pools": {"a10g": {"gpu": "A10G", "gpus": 1}},
    "images": ["registry.example.com:5000/notebook:1"],
    "volume_claim": "shared",
    "storage_class": "gp3",
}
OIDC = {
    "client_id": "hub",
    "client_secret": "s",
    "authorize_url": "https://login.example.com/a",
    "token_url": "https://login.example.com/t",
    "userdata_url": "https://login.example.com/u",
}
USERS = {"ana": {"uid": 1501, "gid": 1500}, "bo": {"uid": 1502.0, "gid": 1500.0}}


def login(**more: object) -> dict:
    config = plan_values({**ARGS, **more})["hub"]["config"]
    return {key: value for key, value in config.items() if key != "KubeSpawner"}


def test_login_by_oidc_of_the_teams_users():
    assert login(oidc=OIDC, users=USERS, admins=["ana"]) == {
        "JupyterHub": {"authenticator_class": "generic-oauth"},
        "GenericOAuthenticator": {
            **OIDC,
            "oauth_callback_url": "https://hub.example.com/hub/oauth_callback",
            "scope": ["openid", "profile", "email"],
            "username_claim": "preferred_username",
            "login_service": "OpenID Connect",
        },
        "Authenticator": {"admin_users": ["ana"], "allowed_users": ["ana", "bo"]},
    }


def test_login_by_oidc_of_groups():
    found = login(oidc={**OIDC, "allowed_groups": ["vision"], "groups_claim": "roles"}, users=USERS)
    client = found["GenericOAuthenticator"]
    assert (client["manage_groups"], client["auth_state_groups_key"], client["allowed_groups"]) == (
        True,
        "oauth_user.roles",
        ["vision"],
    )
    assert found["Authenticator"] == {"admin_users": []}
    assert login(oidc=OIDC)["GenericOAuthenticator"]["allow_all"] is True


def test_dummy_login():
    assert login() == {
        "JupyterHub": {"authenticator_class": "dummy"},
        "DummyAuthenticator": {},
        "Authenticator": {"admin_users": [], "allow_all": True},
    }
    assert login(dummy_password="x", users=USERS)["DummyAuthenticator"] == {"password": "x"}
    assert login(users=USERS)["Authenticator"] == {"admin_users": [], "allowed_users": ["ana", "bo"]}


def test_certificate():
    def https(**tls: str) -> dict:
        return plan_values({**ARGS, "tls": tls})["proxy"]["https"]

    host = {"hosts": ["hub.example.com"]}
    assert https() == {"enabled": False}
    assert https(secret="hub-tls") == {"enabled": True, "type": "secret", "secret": {"name": "hub-tls"}, **host}
    assert https(letsencrypt_email="it@example.com") == {
        "enabled": True,
        "type": "letsencrypt",
        "letsencrypt": {"contactEmail": "it@example.com"},
        **host,
    }


@pytest.mark.parametrize(
    ("image", "parts"),
    [
        ("host:5000/a:1", ("host:5000/a", "1")),
        (f"host/a@sha256:{'0' * 64}", ("host/a@sha256", "0" * 64)),
    ],
)
def test_image_is_joined_by_the_chart_again(image, parts):
    found = plan_values({**ARGS, "images": [image]})["singleuser"]["image"]
    assert (found["name"], found["tag"]) == parts
    assert f"{found['name']}:{found['tag']}" == image


def test_culling():
    def cull(**more: int) -> dict:
        return plan_values({**ARGS, **more})["cull"]

    assert cull() == {"enabled": True, "timeout": 3600, "every": 600, "maxAge": 0}
    assert cull(idle_minutes=10, max_age_hours=24) == {"enabled": True, "timeout": 600, "every": 150, "maxAge": 86400}
    assert cull(idle_minutes=0, max_age_hours=24) == {"enabled": False}


def test_nothing_is_cluster_wide_and_nobody_reaches_the_nodes_identity():
    values = plan_values(ARGS)
    assert not values["scheduling"]["userScheduler"]["enabled"]
    assert not values["prePuller"]["hook"]["enabled"]
    assert not values["prePuller"]["continuous"]["enabled"]
    pods = (values["hub"], values["proxy"]["chp"], values["proxy"]["traefik"], values["singleuser"])
    assert [each["networkPolicy"]["egressAllowRules"]["cloudMetadataServer"] for each in pods] == [False] * 4
    assert values["singleuser"]["cloudMetadata"] == {"blockWithIptables": False}


def test_own_values_win_mapping_by_mapping():
    values = plan_values({**ARGS, "values": {"hub": {"db": {"pvc": {"storageClassName": "fast"}}}, "cull": None}})
    assert values["hub"]["db"] == {"type": "sqlite-pvc", "pvc": {"storageClassName": "fast"}}
    assert plan_values(ARGS)["hub"]["db"] == {"type": "sqlite-pvc", "pvc": {"storageClassName": "gp3"}}
    without = {key: value for key, value in ARGS.items() if key != "storage_class"}
    assert plan_values({**without, "database": "memory"})["hub"]["db"] == {"type": "sqlite-memory"}
    assert values["cull"] is None
    assert merged({"a": {"b": 1}}, {"a": 2}) == {"a": 2}


def test_hub_is_reached_by_port_forward_unless_users_log_in_for_real():
    def service(**more: object) -> str:
        values = plan_values({**ARGS, **more})
        assert plan_access({**ARGS, **more})["proxy"]["service"] == values["proxy"]["service"]
        return values["proxy"]["service"]["type"]

    assert service() == "ClusterIP"
    assert service(oidc=OIDC) == "LoadBalancer"
    assert service(service="NodePort") == "NodePort"
    assert service(values={"proxy": {"service": {"type": "LoadBalancer"}}}) == "LoadBalancer"


def test_login_is_judged_by_the_values_that_the_chart_gets():
    config = {"JupyterHub": {"authenticator_class": "dummy"}}
    assert plan_access(ARGS)["hub"]["config"] == config
    assert plan_access({"dummy_password": "x"})["hub"]["config"] == {**config, "DummyAuthenticator": {"password": "x"}}
    own = {"hub": {"config": {"JupyterHub": {"authenticator_class": "ldap"}}}, "ingress": {"enabled": True}}
    found = plan_access({**ARGS, "values": own})
    assert found["hub"]["config"]["JupyterHub"]["authenticator_class"] == "ldap"
    assert found["ingress"] == {"enabled": True}


def test_hub_prefers_nodes_without_gpus_and_notebooks_without_gpu_too():
    values = plan_values({**ARGS, "node_selector": {"zone": "a"}})
    [term] = values["singleuser"]["extraNodeAffinity"]["preferred"]
    assert term["preference"] == {"matchExpressions": [{"key": "gpufleet.dev/gpu", "operator": "DoesNotExist"}]}
    for pod in (values["hub"], values["proxy"]["chp"], values["proxy"]["traefik"]):
        affinity = pod["extraPodSpec"]["affinity"]["nodeAffinity"]
        assert affinity == {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
        assert pod["nodeSelector"] == {"zone": "a"}
    assert values["singleuser"]["nodeSelector"] == {"zone": "a"}
    # The chart would write the key affinity a second time.
    assert values["scheduling"]["corePods"]["nodeAffinity"]["matchNodePurpose"] == "ignore"


def hook_of(**more: object):
    """The hook, as the hub gets it: out of the text that runs there."""
    scope = {"c": SimpleNamespace(Spawner=SimpleNamespace())}
    exec(hub_code({**ARGS, **more}), scope)
    return scope["c"].Spawner.pre_spawn_hook


def spawner(name: str) -> SimpleNamespace:
    return SimpleNamespace(
        user=SimpleNamespace(name=name),
        environment={"A": "1"},
        extra_annotations={"b": "2"},
        volumes=[{"name": "shared-files"}],
        volume_mounts={"0": {"name": "shared-files"}},
        fs_gid=100,
    )


def test_hub_starts_a_notebook_as_its_user():
    made = spawner("bo")
    hook_of(users=USERS, gid=1600)(made)
    assert (made.uid, made.gid, made.supplemental_gids, made.fs_gid) == (1502, 1500, [1600], None)
    assert made.environment == {
        "A": "1",
        "HOME": "/mnt/home/bo",
        "USER": "bo",
        "LOGNAME": "bo",
        "GPUFLEET_USER": "bo",
        "GPUFLEET_SHARED": "/mnt",
    }
    assert "bo:x:1502:1500::/mnt/home/bo:/bin/sh" in made.extra_annotations["gpufleet.dev/passwd"]
    assert made.extra_annotations["b"] == "2"
    assert [each["name"] for each in made.volumes] == ["shared-files", "passwd"]
    assert [each["name"] for each in made.volume_mounts] == ["shared-files", "passwd"]


def test_hub_starts_no_notebook_of_a_stranger():
    made = spawner("eve")
    with pytest.raises(Exception, match="eve has no uid here") as refused:
        hook_of(users=USERS)(made)
    assert refused.value.jupyterhub_message == str(refused.value)
    assert not hasattr(made, "uid")
    assert NotOfTheTeam("eve").jupyterhub_message == refused.value.jupyterhub_message


def test_without_users_everybody_is_1000():
    made = spawner("eve")
    hook_of()(made)
    assert (made.uid, made.gid) == (1000, 1000)
    assert [each["name"] for each in made.volumes] == ["shared-files"]


def test_users_are_data_to_the_hub():
    """A name that is code would be refused by its rule; here it stays a text all the same."""
    name = "a'); raise SystemExit('"
    assert json.dumps(name)[1:-1] in hub_code({**ARGS, "users": {name: {"uid": 1, "gid": 1}}}).replace("\\'", "'")
    hook_of(users={name: {"uid": 1, "gid": 1}})
