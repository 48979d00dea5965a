"""Cases of gpufleet.rules.kubernetes.jupyterhub."""

import pytest

from gpufleet.rules.kubernetes.jupyterhub import (
    INTERNAL,
    HubAccess,
    database_kept,
    database_placed,
    dummy_login_inside,
    hub_access,
    validate_hub_login,
)


def hub(*, dummy: bool | None = True, password: bool = False, value: object = "LoadBalancer", reach: str | None):
    return {"dummy": dummy, "password": password, "argument": "service", "value": value, "reach": reach}


INSIDE = "use ClusterIP without an ingress, or OIDC"
CASES = {
    dummy_login_inside: [
        ("oidc-in-public", hub(dummy=False, reach="public"), "pass", ""),
        ("oidc-unknown-service", hub(dummy=False, reach=None), "pass", ""),
        ("port-forward", hub(value="ClusterIP", reach="port-forward"), "pass", ""),
        ("unknown-login-inside", hub(dummy=None, value="ClusterIP", reach="port-forward"), "pass", ""),
        ("password-inside", hub(password=True, reach="network"), "pass", ""),
        (
            "public",
            hub(reach="public"),
            "fail",
            "trainers: service=LoadBalancer: lets strangers reach the dummy login, which accepts any name; "
            f"{INSIDE} [any-notebooks-dummy-login]",
        ),
        (
            "public-with-a-password",
            hub(password=True, reach="public"),
            "fail",
            "trainers: service=LoadBalancer: lets strangers reach the dummy login, which accepts any name; "
            f"{INSIDE} [any-notebooks-dummy-login]",
        ),
        (
            "network",
            hub(value="NodePort", reach="network"),
            "fail",
            "trainers: service=NodePort: lets the network reach a dummy login without password; "
            f"{INSIDE}, or set a password [any-notebooks-dummy-login]",
        ),
        (
            "unknown-login",
            hub(dummy=None, reach="public"),
            "unverified",
            "trainers: service=LoadBalancer: not verified: whether strangers reach a dummy login is not known; "
            f"{INSIDE} [any-notebooks-dummy-login]",
        ),
        (
            "unknown-service",
            hub(value=None, password=True, reach=None),
            "unverified",
            "trainers: service=null: not verified: whether strangers reach a dummy login is not known; "
            f"{INSIDE} [any-notebooks-dummy-login]",
        ),
    ],
    database_placed: [
        ("volume", {"database": "volume", "storage_class": True}, "pass", ""),
        ("memory", {"database": "memory", "storage_class": False}, "pass", ""),
        (
            "nowhere",
            {"database": "volume", "storage_class": False},
            "fail",
            "trainers: storage_class=null: leaves the hub without a volume for its database; name one of "
            "`kubectl get storageclass`, or set database=memory [any-notebooks-database]",
        ),
    ],
    database_kept: [
        ("volume", {"database": "volume"}, "pass", ""),
        (
            "memory",
            {"database": "memory"},
            "fail",
            "trainers: database=memory: forgets notebooks that run when the hub restarts: they keep their GPUs until "
            "somebody deletes them; set storage_class, and database=volume [any-notebooks-memory]",
        ),
    ],
}


def test_case(case):
    case.check()


@pytest.mark.parametrize(
    ("values", "access"),
    [
        ({}, HubAccess("service", "LoadBalancer", "public")),
        ({"proxy": {"service": {"type": "ClusterIP"}}}, HubAccess("service", "ClusterIP", "port-forward")),
        ({"proxy": {"service": {"type": "NodePort"}}}, HubAccess("service", "NodePort", "network")),
        ({"proxy": {"service": {"type": object()}}}, HubAccess("service", None, None)),
        (
            {"ingress": {"enabled": True}, "proxy": {"service": {"type": "ClusterIP"}}},
            HubAccess("values.ingress", "enabled", "public"),
        ),
        ({"httpRoute": {"enabled": True}}, HubAccess("values.httpRoute", "enabled", "public")),
        ({"ingress": {"enabled": False}}, HubAccess("service", "LoadBalancer", "public")),
    ],
)
def test_who_reaches_a_hub_by_its_values(values, access):
    assert hub_access(values) == access


@pytest.mark.parametrize("name", INTERNAL)
def test_load_balancer_is_internal_by_its_annotation(name):
    def reach(value: str) -> object:
        return hub_access({"proxy": {"service": {"annotations": {name: value}}}}).reach

    assert [reach(value) for value in sorted(INTERNAL[name])] == ["network"] * len(INTERNAL[name])
    assert (reach("false"), reach("internet-facing")) == ("public", "public")


@pytest.mark.parametrize(
    ("config", "status"),
    [
        ({}, "fail"),
        ({"JupyterHub": {"authenticator_class": "dummy"}}, "fail"),
        ({"JupyterHub": {"authenticator_class": "jupyterhub.auth.DummyAuthenticator"}}, "fail"),
        ({"JupyterHub": {"authenticator_class": "generic-oauth"}}, "pass"),
        ({"JupyterHub": {"authenticator_class": object()}}, "unverified"),
    ],
)
def test_login_of_a_release(config, status):
    [found] = validate_hub_login({"hub": {"config": config}})
    assert found.status == status


def test_password_is_of_the_dummy_login():
    inside = {"service": {"type": "NodePort"}}

    def status(**config: object) -> str:
        [found] = validate_hub_login({"hub": {"config": config}, "proxy": inside})
        return found.status

    assert status() == "fail"
    assert status(DummyAuthenticator={"password": object()}) == "pass"
    assert status(PAMAuthenticator={"password": "x"}) == "fail"
