"""How traffic leaves the subnets of a plan."""

from collections.abc import Sequence
from functools import cached_property

from gpufleet.plan.aws.zones import SUBNET
from gpufleet.plan.property_values import blocks, get_path, items, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource
from gpufleet.rules.aws.network import NODE_SERVICES
from gpufleet.rules.aws.subnet_routes import ENDPOINTS, INTERNET, NAT, NOWHERE

VPC = "aws:ec2/vpc:Vpc"
TABLE = "aws:ec2/routeTable:RouteTable"
ROUTE = "aws:ec2/route:Route"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
GATEWAY = "aws:ec2/internetGateway:InternetGateway"
_MAIN = (
    "aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation",
    "aws:ec2/defaultRouteTable:DefaultRouteTable",
)
_DEFAULT = ("0.0.0.0/0", "::/0")
_DESTINATIONS = ("destinationCidrBlock", "destinationIpv6CidrBlock", "cidrBlock", "ipv6CidrBlock")


class RouteTables:
    """Ways out of the subnets of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def way_out(self, subnet: Resource) -> str | None:
        """nat, endpoints, internet or nowhere, as `gpufleet.rules.aws.subnet_routes` has them; None if not known."""
        associations = self._associations.get(subnet.urn, ())
        if not associations:
            vpcs = self._plan.behind(subnet, "vpcId", VPC)
            # Without an association the VPC's main table holds, and a new one leads nowhere.
            new = bool(vpcs) and not self._plan.of_type(*_MAIN) and not self._outside_associations
            return self._or_endpoints(subnet, NOWHERE) if new else None
        tables = self._plan.behind(associations[0], "routeTableId", TABLE)
        if len(tables) != 1:
            return None
        return self._or_endpoints(subnet, self._way_of_table(tables[0]))

    def _or_endpoints(self, subnet: Resource, way: str | None) -> str | None:
        if way != NOWHERE:
            return way
        services = set()
        for vpc in self._plan.behind(subnet, "vpcId", VPC):
            for endpoint in self._endpoints.get(vpc.urn, ()):
                name = value_of(endpoint, "serviceName")
                if not isinstance(name, str):
                    return None
                # com.amazonaws.us-east-1.ecr.api
                services.add(".".join(name.split(".")[3:]))
        return ENDPOINTS if set(NODE_SERVICES) <= services else NOWHERE

    def _way_of_table(self, table: Resource) -> str | None:
        value = value_of(table, "routes")
        inline = [_way(each, self._plan, table, "routes") for each in blocks(value)]
        apart = [_way(each.inputs, self._plan, each, "gatewayId") for each in self._routes.get(table.urn, ())]
        ways = [way for way in (*inline, *apart) if way]
        unclear = value is UNKNOWN or UNKNOWN in items(value) or UNKNOWN in ways
        if NAT in ways or INTERNET in ways:
            return NAT if NAT in ways else INTERNET
        return None if unclear else NOWHERE

    @cached_property
    def _associations(self) -> dict[str, list[Resource]]:
        return self._by_target(ASSOCIATION, "subnetId", SUBNET)

    @cached_property
    def _outside_associations(self) -> bool:
        """Whether an association names its subnet in a way that the plan does not show."""
        known = {each.urn for found in self._associations.values() for each in found}
        return any(
            each.urn not in known and value_of(each, "gatewayId") is None for each in self._plan.of_type(ASSOCIATION)
        )

    @cached_property
    def _endpoints(self) -> dict[str, list[Resource]]:
        return self._by_target(ENDPOINT, "vpcId", VPC)

    @cached_property
    def _routes(self) -> dict[str, list[Resource]]:
        return self._by_target(ROUTE, "routeTableId", TABLE)

    def _by_target(self, kind: str, name: str, target: str) -> dict[str, list[Resource]]:
        found: dict[str, list[Resource]] = {}
        for each in self._plan.of_type(kind):
            for behind in self._plan.behind(each, name, target):
                found.setdefault(behind.urn, []).append(each)
        return found


def _way(route: object, plan: Plan, holder: Resource, name: str) -> object:
    """Where a default route leads; None for another route, `UNKNOWN` where its destination is not known."""
    destinations: Sequence[object] = [get_path(route, key) for key in _DESTINATIONS]
    if not any(each in _DEFAULT for each in destinations if isinstance(each, str)):
        return UNKNOWN if UNKNOWN in destinations and not any(isinstance(each, str) for each in destinations) else None
    gateway = get_path(route, "gatewayId")
    if gateway is None or (isinstance(gateway, str) and not gateway.startswith("igw-")):
        return NAT
    # A gateway of the program, of which only virtual private gateways are not the internet's.
    return INTERNET if isinstance(gateway, str) or plan.behind(holder, name, GATEWAY) else NAT
