"""How traffic leaves the subnets of a plan."""

from collections.abc import Sequence
from functools import cached_property

from gpufleet.plan.aws.zones import SUBNET
from gpufleet.plan.property_values import blocks, get_path, items, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource
from gpufleet.rules.aws.network import NODE_SERVICES
from gpufleet.rules.aws.subnet_routes import CLOSED_NAT, ENDPOINTS, INTERNET, NAT, NOWHERE

VPC = "aws:ec2/vpc:Vpc"
TABLE = "aws:ec2/routeTable:RouteTable"
ROUTE = "aws:ec2/route:Route"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
GATEWAY = "aws:ec2/internetGateway:InternetGateway"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
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
        """nat, closed-nat, endpoints, internet or nowhere, as `gpufleet.rules.aws.subnet_routes` has them; None if not
        known."""
        table = self._table(subnet)
        if table is None:
            return self._or_endpoints(subnet, self._way_of_main_table(subnet))
        way = self._way_of_table(table)
        return self._or_endpoints(subnet, CLOSED_NAT if way == NAT and self._behind_closed_nat(table) else way)

    def _table(self, subnet: Resource) -> Resource | None:
        """The table of the program that the subnet is associated with."""
        associations = self._associations.get(subnet.urn, ())
        tables = self._plan.behind(associations[0], "routeTableId", TABLE) if associations else ()
        return tables[0] if len(tables) == 1 else None

    def _way_of_main_table(self, subnet: Resource) -> str | None:
        """Without an association the VPC's main table holds, and a new one leads nowhere."""
        if self._associations.get(subnet.urn):
            return None
        new = bool(self._plan.behind(subnet, "vpcId", VPC)) and not self._plan.of_type(*_MAIN)
        return NOWHERE if new and not self._outside_associations else None

    def _behind_closed_nat(self, table: Resource) -> bool:
        """Whether the table's default routes lead to NAT gateways only, none of which reaches the internet."""
        gateways = self._nat_gateways(table)
        return bool(gateways) and all(self._closed(gateway) for gateway in gateways)

    def _closed(self, gateway: Resource) -> bool:
        """Whether a public NAT gateway lies in a subnet whose default routes lead to NAT gateways only, or nowhere."""
        subnets = self._plan.behind(gateway, "subnetId", SUBNET)
        if value_of(gateway, "connectivityType") not in (None, "public") or len(subnets) != 1:
            return False
        table = self._table(subnets[0])
        way = self._way_of_main_table(subnets[0]) if table is None else self._way_of_table(table)
        return way == NOWHERE or (way == NAT and table is not None and bool(self._nat_gateways(table)))

    def _nat_gateways(self, table: Resource) -> Sequence[Resource]:
        """The NAT gateways that all of the table's default routes lead to; none if one of them leads elsewhere."""
        found: list[Resource] = []
        inline = [(each, table, "routes") for each in blocks(value_of(table, "routes"))]
        apart = [(each.inputs, each, "natGatewayId") for each in self._routes.get(table.urn, ())]
        for route, holder, name in (*inline, *apart):
            if _way(route, self._plan, holder, name) is None:
                continue
            gateways = self._plan.behind(holder, name, NAT_GATEWAY)
            if get_path(route, "natGatewayId") is None or not gateways:
                return ()
            found += gateways
        return found

    def _or_endpoints(self, subnet: Resource, way: str | None) -> str | None:
        if way not in (NOWHERE, CLOSED_NAT):
            return way
        services = set()
        for vpc in self._plan.behind(subnet, "vpcId", VPC):
            for endpoint in self._endpoints.get(vpc.urn, ()):
                name = value_of(endpoint, "serviceName")
                if not isinstance(name, str):
                    return None
                # com.amazonaws.us-east-1.ecr.api
                services.add(".".join(name.split(".")[3:]))
        return ENDPOINTS if set(NODE_SERVICES) <= services else way

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
