"""Checks of the EKS clusters in a plan, by the rules on a control plane."""

from collections.abc import Iterable, Mapping

from gpufleet.catalog import eks_zones
from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.aws.security_groups import CLUSTER
from gpufleet.plan.aws.zones import ZoneNames, region_of, zones_of
from gpufleet.plan.property_values import as_bool, get_path, items, value_of
from gpufleet.plan.tags import tags_of
from gpufleet.policies.ownership import EXPIRY
from gpufleet.rules.aws import cluster, remote_networks
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding
from gpufleet.rules.unknown_values import plan_known


def validate_clusters(plan: Plan, zone_names: ZoneNames) -> list[ResourceFinding]:
    """Every finding on the control planes of a plan."""
    resource_findings: list[ResourceFinding] = []
    for each in plan.of_type(CLUSTER):
        resource_findings += findings_on(
            each, [*_zones(plan, each, zone_names), *_endpoint(each), *_version(each), *_own_servers(each)]
        )
    return resource_findings


def _zones(plan: Plan, resource: Resource, zone_names: ZoneNames) -> Iterable[Finding]:
    zones = zones_of(plan, resource, "vpcConfig", ("subnetIds",), zone_names)
    if zones.ids is None and len(zones.places) < 2:
        yield plan_known(arguments=["zones"])
    else:
        yield cluster.two_zones(zones=zones.places)
    known = eks_zones(region_of(resource, zones.places) or "")
    accepting = tuple(zone for zone, accepted in known.items() if accepted)
    for zone in zones.places:
        if zone in known:
            yield cluster.zone_accepted(zone=zone, accepted=known[zone], others=accepting)


def _endpoint(resource: Resource) -> Iterable[Finding]:
    """EKS opens the public endpoint, to everybody, and no private one, by default."""
    block = value_of(resource, "vpcConfig")
    switches = [get_path(block, name) for name in ("endpointPrivateAccess", "endpointPublicAccess")]
    private = switches[0] is not UNKNOWN and bool(as_bool(switches[0]))
    public = switches[1] is None or bool(as_bool(switches[1]))
    if UNKNOWN in switches:
        yield plan_known(arguments=["public_endpoint"])
        return
    yield cluster.some_endpoint(private=private, public=public)
    ranges = get_path(block, "publicAccessCidrs")
    if ranges is UNKNOWN or UNKNOWN in items(ranges):
        if public:
            yield plan_known(arguments=["public_access_cidrs"])
        return
    cidrs = [each for each in items(ranges) if isinstance(each, str)]
    yield cluster.public_limited(public=public, cidrs=cidrs)
    for cidr in cidrs:
        if not cidr.strip().endswith("/0"):
            yield cluster.cidr_public(cidr=cidr)


def _version(resource: Resource) -> Iterable[Finding]:
    """EKS takes support EXTENDED by default."""
    version = value_of(resource, "version")
    support = get_path(value_of(resource, "upgradePolicy"), "supportType")
    if isinstance(version, str):
        yield from cluster.validate_version(
            version,
            region_of(resource) or "",
            support if isinstance(support, str) else "EXTENDED",
            (tags_of(resource) or {}).get(EXPIRY),
        )


def _own_servers(resource: Resource) -> Iterable[Finding]:
    """EKS takes the mode CONFIG_MAP, and a public endpoint, by default."""
    networks = value_of(resource, "remoteNetworkConfig")
    if not isinstance(networks, Mapping):
        return
    mode = get_path(value_of(resource, "accessConfig"), "authenticationMode")
    if mode is not UNKNOWN:
        yield remote_networks.mode_with_entries(mode=mode if isinstance(mode, str) else "CONFIG_MAP")
    switches = [
        get_path(value_of(resource, "vpcConfig"), name) for name in ("endpointPrivateAccess", "endpointPublicAccess")
    ]
    if UNKNOWN not in switches:
        public = switches[1] is None or bool(as_bool(switches[1]))
        yield remote_networks.one_endpoint(private=bool(as_bool(switches[0])), public=public)
    ranges = {
        kind: [each for each in items(get_path(networks, block, "cidrs")) if isinstance(each, str)]
        for kind, block in (("nodes", "remoteNodeNetworks"), ("pods", "remotePodNetworks"))
    }
    services = get_path(value_of(resource, "kubernetesNetworkConfig"), "serviceIpv4Cidr")
    known = {"service_cidr": services} if isinstance(services, str) else {}
    yield from remote_networks.validate_remote_networks({"remote_networks": ranges, **known}, "remoteNetworkConfig")
