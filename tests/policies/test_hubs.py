"""The pack gpufleet-zones on JupyterHub's releases of other teams' programs."""

import pytest

from gpufleet.policies.feasibility import validate_feasibility
from gpufleet.policies.kubernetes.hubs import validate_hubs
from tests.policies.raw_program import plan_from

STRANGERS = (
    "lets strangers reach the dummy login, which accepts any name; use ClusterIP without an ingress, or OIDC "
    "[any-notebooks-dummy-login]"
)
INTERNAL = {"service.beta.kubernetes.io/azure-load-balancer-internal": "true"}


def told(chart="jupyterhub", **inputs):
    release = {"type": "kubernetes:helm.sh/v3:Release", "inputs": {"chart": chart, **inputs}}
    plan = plan_from({"key": {"type": "random:x:Y", "inputs": {}}, "hub": release})
    found = validate_hubs(plan)
    assert {each.finding for each in found} <= {each.finding for each in validate_feasibility(plan, {})}
    return [each.finding.line(each.resource) for each in found if each.finding.status != "pass"]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (None, f"hub: service=LoadBalancer: {STRANGERS}"),
        ({"singleuser": {}}, f"hub: service=LoadBalancer: {STRANGERS}"),
        ({"ingress": {"enabled": True}}, f"hub: values.ingress=enabled: {STRANGERS}"),
        (
            {"proxy": {"service": {"annotations": INTERNAL}}},
            "hub: service=LoadBalancer: lets the network reach a dummy login without password; use ClusterIP without "
            "an ingress, or OIDC, or set a password [any-notebooks-dummy-login]",
        ),
        (
            "${key.id}",
            "hub: values=null: not verified: whether strangers reach a dummy login is not known; use ClusterIP without "
            "an ingress, or OIDC [any-notebooks-dummy-login]",
        ),
    ],
)
def test_dummy_login_that_others_reach(values, line):
    given = {} if values is None else {"values": values}
    assert told(**given) == [line]
    assert told(chart="oci://registry.example.com/charts/jupyterhub", **given) == [line]
    assert told(chart="grafana", **given) == []


@pytest.mark.parametrize(
    "values",
    [
        {"proxy": {"service": {"type": "ClusterIP"}}},
        {"hub": {"config": {"JupyterHub": {"authenticator_class": "generic-oauth"}}}},
        {
            "proxy": {"service": {"annotations": INTERNAL}},
            "hub": {"config": {"DummyAuthenticator": {"password": "${key.id}"}}},
        },
    ],
)
def test_login_that_strangers_do_not_reach(values):
    assert told(values=values) == []


def test_values_in_files_are_not_read():
    [line] = told(valueYamlFiles=["${key.id}"])
    assert line.startswith("hub: values=null: not verified: ")
