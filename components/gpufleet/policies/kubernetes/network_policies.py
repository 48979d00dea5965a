"""Checks of the network policies in a plan, as its clusters' data planes take them."""

from collections.abc import Iterable, Mapping

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.azure.graph import azure_type
from gpufleet.plan.property_values import blocks, from_json, get_path, items, value_of
from gpufleet.rules.kubernetes.network_policy import peers_selectable, policies_enforced, version_enforces
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding

POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
RELEASE = "kubernetes:helm.sh/v3:Release"
ADDON = "aws:eks/addon:Addon"
_PEERS = {"egress": "to", "ingress": "from"}


def validate_network_policies(plan: Plan) -> list[ResourceFinding]:
    """Every finding on the network policies of a plan, and on the add-ons that would enforce them."""
    policies = plan.of_type(POLICY)
    resource_findings: list[ResourceFinding] = []
    if _has_cilium(plan):
        for each in policies:
            neighbours = [other for other in policies if _namespace(other) == _namespace(each)]
            resource_findings += findings_on(each, _peers(each, neighbours))
    for each in plan.of_type(ADDON):
        if value_of(each, "addonName") == "vpc-cni":
            resource_findings += findings_on(each, _of_addon(each, len(policies)))
    return resource_findings


def _has_cilium(plan: Plan) -> bool:
    """Whether any cluster of the plan has Cilium for its data plane: one of AKS, or by Cilium's chart."""
    return any(_is_cilium(each) for each in plan.resources)


def _is_cilium(resource: Resource) -> bool:
    if resource.type == RELEASE:
        chart = value_of(resource, "chart")
        return isinstance(chart, str) and chart.rpartition("/")[2] == "cilium"
    found = azure_type(resource.type)
    if found is None or found.kind != "containerservice:ManagedCluster":
        return False
    return get_path(value_of(resource, "networkProfile"), "networkDataplane") == "cilium"


def _namespace(policy: Resource) -> object:
    found = get_path(value_of(policy, "metadata"), "namespace")
    # An unknown name counts as a separate namespace.
    return policy.urn if found is UNKNOWN else found


def _peers(policy: Resource, neighbours: Iterable[Resource]) -> Iterable[Finding]:
    """A finding for each direction; policies of a namespace add up, so that a neighbour may hold the selector."""
    for direction in _PEERS:
        peers = [peer for entry in _entries(policy, direction) for peer in _listed(entry, direction)]
        cidrs = [get_path(peer, "ipBlock", "cidr") for peer in peers]
        yield peers_selectable(
            argument=direction,
            cidrs=[cidr for cidr in cidrs if isinstance(cidr, str)],
            selectors=any(_selects(entry, direction) for each in neighbours for entry in _entries(each, direction)),
        )


def _entries(policy: Resource, direction: str) -> list[Mapping[str, object]]:
    return blocks(get_path(value_of(policy, "spec"), direction))


def _listed(entry: Mapping[str, object], direction: str) -> list[Mapping[str, object]]:
    return blocks(entry.get(_PEERS[direction]))


def _selects(entry: Mapping[str, object], direction: str) -> bool:
    """Whether an entry reaches pods, or may: it has a selector, which may be empty, or no peers and no ports at all."""
    told = entry.get(_PEERS[direction])
    if told is UNKNOWN or UNKNOWN in items(told):
        return True
    peers = _listed(entry, direction)
    if not peers:
        return not items(entry.get("ports"))
    return any("podSelector" in peer or "namespaceSelector" in peer for peer in peers)


def _of_addon(addon: Resource, policies: int) -> Iterable[Finding]:
    """Whether an add-on vpc-cni enforces the policies of the stack, and in its version can."""
    told, version = value_of(addon, "configurationValues"), value_of(addon, "addonVersion")
    if told is UNKNOWN:
        yield policies_enforced(policies=policies, settings="", enforced=None)
        return
    enabled = get_path(from_json(told), "enableNetworkPolicy")
    settings = told if isinstance(told, str) else ""
    yield policies_enforced(policies=policies, settings=settings, enforced=enabled == "true")
    yield version_enforces(version=version if isinstance(version, str) else "", enabled=enabled is not None)
