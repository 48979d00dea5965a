"""A hub as the values of JupyterHub's chart describe it: who reaches its login, and where its database is."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from gpufleet.rules import coerce
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

Reach = Literal["port-forward", "network", "public"]
INTERNAL: Mapping[str, frozenset[str]] = {
    "service.beta.kubernetes.io/aws-load-balancer-internal": frozenset({"true", "0.0.0.0/0"}),
    "service.beta.kubernetes.io/aws-load-balancer-scheme": frozenset({"internal"}),
    "service.beta.kubernetes.io/azure-load-balancer-internal": frozenset({"true"}),
}
"""Annotations of a Service, with the values by which its load balancer has an internal address.

Source: kubernetes.io/docs/concepts/services-networking/service/#internal-load-balancer;
kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/#lb-scheme
"""


class HubAccess(NamedTuple):
    """Who reaches a hub. argument, value: what decides it. reach: None where it is not known."""

    argument: str
    value: object
    reach: Reach | None


@rule("any-notebooks-dummy-login", Severity.ERROR)
def dummy_login_inside(
    *, dummy: bool | None, password: bool, argument: str, value: object, reach: Reach | None
) -> Outcome:
    """The dummy login is reached by `kubectl port-forward` only, or it has a password and no public address.

    dummy: whether it is the hub's login; None: not known. password: whether it asks for one. reach: who gets to the
    hub, as `value` of `argument` decides; None: not known.

    Source: https://jupyterhub.readthedocs.io/en/stable/reference/authenticators.html (dummy: for testing, any password
    unless one is set); jupyterhub/values.yaml of github.com/jupyterhub/zero-to-jupyterhub-k8s: the dummy login behind
    a LoadBalancer is what the chart installs by itself.
    """
    if dummy is False or reach == "port-forward" or (reach == "network" and password):
        return passed()
    fix = "use ClusterIP without an ingress, or OIDC"
    if dummy is None or reach is None:
        return unverified(argument, value, "whether strangers reach a dummy login is not known", fix)
    if reach == "public":
        return failed(argument, value, "lets strangers reach the dummy login, which accepts any name", fix)
    return failed(argument, value, "lets the network reach a dummy login without password", f"{fix}, or set a password")


@rule("any-notebooks-database", Severity.ERROR)
def database_placed(*, database: str, storage_class: bool) -> Outcome:
    """A hub that keeps its database on a volume names the storage class that makes the volume.

    Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#class-1: a claim waits for ever where there
    is neither such a class nor a default one; EKS has had none since 1.30
    (https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-extended.html), kubeadm never.
    """
    if database != "volume" or storage_class:
        return passed()
    fix = "name one of `kubectl get storageclass`, or set database=memory"
    return failed("storage_class", None, "leaves the hub without a volume for its database", fix)


@rule("any-notebooks-memory", Severity.WARNING)
def database_kept(*, database: str) -> Outcome:
    """The hub's database outlives its pod: it is all that the hub knows of users and of notebooks that run.

    Source: https://jupyterhub.readthedocs.io/en/stable/explanation/database.html
    """
    if database != "memory":
        return passed()
    problem = "forgets notebooks that run when the hub restarts: they keep their GPUs until somebody deletes them"
    return failed("database", database, problem, "set storage_class, and database=volume")


def hub_access(values: Mapping[str, object]) -> HubAccess:
    """Who reaches the hub of a release with these values; what they leave out is as the chart has it."""
    for key in ("ingress", "httpRoute"):
        if coerce.mapping(values, key).get("enabled"):
            return HubAccess(f"values.{key}", "enabled", "public")
    service = coerce.mapping(coerce.mapping(values, "proxy"), "service")
    kind = service.get("type", "LoadBalancer")
    if not isinstance(kind, str):
        return HubAccess("service", None, None)
    if kind == "ClusterIP":
        return HubAccess("service", kind, "port-forward")
    annotations = coerce.mapping(service, "annotations")
    internal = any(annotations.get(name) in legal for name, legal in INTERNAL.items())
    return HubAccess("service", kind, "network" if internal or kind == "NodePort" else "public")


def validate_hub_login(values: Mapping[str, object]) -> list[Finding]:
    """Findings on the login of a release with these values."""
    config = coerce.mapping(coerce.mapping(values, "hub"), "config")
    login = coerce.mapping(config, "JupyterHub").get("authenticator_class", "dummy")
    password = "password" in coerce.mapping(config, "DummyAuthenticator")
    # By its short name, or by the path of its class.
    dummy = login == "dummy" or login.endswith("DummyAuthenticator") if isinstance(login, str) else None
    access = hub_access(values)
    return [dummy_login_inside(dummy=dummy, password=password, **access._asdict())]
