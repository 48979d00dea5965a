"""Network: a VPC over chosen zones, with a way out for private nodes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import ec2

from gpufleet.aws.flow_logs import flow_logs
from gpufleet.aws.links import ClusterNetwork, FilesNetwork, NodeNetwork
from gpufleet.aws.subnet_plan import ZoneSubnets, plan_subnets
from gpufleet.aws.vpc_endpoints import PRIVATE_CLUSTER_SERVICES, interface_endpoints, s3_endpoint
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding, validate_network
from gpufleet.rules.aws.existing_network import validate_existing_network
from gpufleet.rules.aws.subnet_plan import MOST_ZONES, validate_subnet_plan
from gpufleet.typed_dicts import NumberRange

DEFAULT_CIDR = "10.0.0.0/16"
DEFAULT_MAX_ZONES = 3

Nat = Literal["none", "single", "per-zone"]


class NetworkConfig(TypedDict):
    """Where the fleet lives. Give ``vpc_id`` and ``private_subnet_ids`` to use a VPC that exists."""

    zones: Sequence[str]
    """Zone ids, for instance use1-az1 (names like us-east-1a mean different zones in different accounts). EKS needs
    two. Append only: the order decides the addresses."""
    cidr: NotRequired[str]
    """IPv4 range of the VPC, /16 to /28. Default 10.0.0.0/16."""
    max_zones: NotRequired[Annotated[int, NumberRange(1, MOST_ZONES)]]
    """Zones that the address plan keeps room for, 1 to 7. Default 3, which gives each zone a quarter of the range.
    A change replaces every subnet."""
    nat: NotRequired[Nat]
    """How private nodes reach the internet: none, single (one gateway, in the first zone) or per-zone. Default
    single."""
    interface_endpoints: NotRequired[Sequence[str]]
    """AWS services with an endpoint inside the VPC, for instance ecr.api. Default: none with NAT; without NAT the ten
    that a private EKS cluster needs. Each costs per zone and hour."""
    flow_logs: NotRequired[bool]
    """Write flow logs to CloudWatch. Default false: the interface-to-interface traffic of a GPU job is large."""
    flow_log_retention_days: NotRequired[int]
    """Days that flow logs are kept. Default 30."""
    flow_log_kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for the encryption of flow logs. Its policy lets logs.REGION.amazonaws.com
    use it: docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html. Default: a key of AWS."""
    vpc_id: NotRequired[pulumi.Input[str]]
    """An existing VPC. Then nothing is created, and nat, endpoints and flow logs are whatever it has."""
    private_subnet_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """With ``vpc_id``: zone id to existing private subnet, one for each of ``zones``. They need a way out."""
    public_subnet_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """With ``vpc_id``: zone id to existing public subnet, if there are any."""


class NetworkArgs(NetworkConfig):
    """The same, and where it is made."""

    region: NotRequired[str]
    """Region of the VPC, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    cluster_name: NotRequired[str]
    """Name of the EKS cluster; tags private subnets that are made here, so that Karpenter finds them."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


class Network(Component):
    """A VPC with a private and a public subnet per zone, NAT, an S3 endpoint, and the tags that EKS add-ons need.

    Its default security group has no rules: whatever is put into the VPC names its own group.
    Subnet maps are keyed by zone id, in the order of ``zones``.
    """

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    cidr: pulumi.Output[str]
    """IPv4 range of the VPC; empty for an existing one whose range was not given."""
    private_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone id to private subnet: for the control plane and for mount targets, which need no way out."""
    node_subnet_ids: dict[str, pulumi.Output[str]]
    """The same subnets, for nodes: known once a node in them can reach its registries and the EKS API."""
    private_route_table_ids: dict[str, pulumi.Output[str]]
    """Zone id to the route table of its private subnet; empty for an existing VPC."""
    public_subnet_ids: dict[str, pulumi.Output[str]]
    """Zone id to public subnet, for load balancers; empty without NAT."""
    nat_public_ips: dict[str, pulumi.Output[str]]
    """Zone id to the address that this zone's NAT gateway shows to the world."""

    def __init__(
        self, name: str, args: NetworkArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NetworkArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NetworkArgs) -> list[Finding]:
        findings = [*validate_network(args), *validate_existing_network(args)]
        if args.get("vpc_id") is None:
            findings += validate_subnet_plan(args, DEFAULT_CIDR, DEFAULT_MAX_ZONES)
        return findings

    def create(self, name: str, args: NetworkArgs) -> None:
        self.private_route_table_ids = {}
        self.public_subnet_ids = {}
        self.nat_public_ips = {}
        if "vpc_id" in args:
            self._adopt(args)
        else:
            self._make(name, args)

    def for_cluster(self) -> ClusterNetwork:
        """Subnets of a control plane and of its system nodes, in all zones of the network."""
        return {"subnet_ids": self.private_subnet_ids, "node_subnet_ids": self.node_subnet_ids}

    def for_nodes(self) -> NodeNetwork:
        """Subnets of nodes, in all zones of the network."""
        return {"vpc_id": self.vpc_id, "subnet_ids": self.node_subnet_ids}

    def for_files(self) -> FilesNetwork:
        """Subnets of mount targets, in all zones of the network."""
        return {"vpc_id": self.vpc_id, "subnet_ids": self.private_subnet_ids}

    def _adopt(self, args: NetworkArgs) -> None:
        """Hand on the ids of what exists; nothing waits, because it was made elsewhere."""
        private = args.get("private_subnet_ids", {})
        self.vpc_id = pulumi.Output.from_input(args.get("vpc_id", ""))
        self.cidr = pulumi.Output.from_input(args.get("cidr", ""))
        self.private_subnet_ids = {zone: pulumi.Output.from_input(private[zone]) for zone in args["zones"]}
        self.node_subnet_ids = dict(self.private_subnet_ids)
        public = args.get("public_subnet_ids", {})
        self.public_subnet_ids = {
            zone: pulumi.Output.from_input(public[zone]) for zone in args["zones"] if zone in public
        }

    def _make(self, name: str, args: NetworkArgs) -> None:
        cidr = args.get("cidr", DEFAULT_CIDR)
        nat = args.get("nat", "single")
        plan = plan_subnets(cidr, args["zones"], int(args.get("max_zones", DEFAULT_MAX_ZONES)))
        network = ec2.Vpc(
            f"{name}-vpc",
            cidr_block=cidr,
            # Both are needed for the cluster's private endpoint and for EFS mount targets by name.
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self.tags(f"{name}-vpc"),
            opts=self.child(),
        )
        self.vpc_id = network.id
        self.cidr = network.cidr_block
        self._close_default_group(name)
        subnets, tables, associations = self._private_zones(name, plan, args.get("cluster_name"))
        s3 = s3_endpoint(name, self, args["region"], network, list(tables.values()))
        services = args.get("interface_endpoints", PRIVATE_CLUSTER_SERVICES if nat == "none" else ())
        endpoints = interface_endpoints(name, self, args["region"], network, list(subnets.values()), services)
        if nat == "none":
            ways_out: dict[str, list[pulumi.Resource]] = {zone: [s3, *endpoints] for zone in subnets}
        else:
            gateway_zones = args["zones"][:1] if nat == "single" else args["zones"]
            ways_out = self._nat(name, plan, gateway_zones, tables)
        self.private_subnet_ids = {zone: subnet.id for zone, subnet in subnets.items()}
        self.private_route_table_ids = {zone: table.id for zone, table in tables.items()}
        # AWS lets a node start without a way out, but it never joins: NodeCreationFailure after 20 minutes.
        self.node_subnet_ids = {
            zone: with_dependencies(subnet.id, associations[zone], *ways_out[zone]) for zone, subnet in subnets.items()
        }
        if args.get("flow_logs", False):
            days, key = int(args.get("flow_log_retention_days", 30)), args.get("flow_log_kms_key_arn")
            flow_logs(name, self, network, days, key)

    def _close_default_group(self, name: str) -> None:
        """Take over the group that AWS makes with the VPC and gives to what names none; its rules let all of its
        members talk to each other and to the world. Source: CIS AWS Foundations Benchmark, 5.4 (CKV2_AWS_12)."""
        child = f"{name}-default-group"
        ec2.DefaultSecurityGroup(
            child, vpc_id=self.vpc_id, ingress=[], egress=[], tags=self.tags(child), opts=self.child()
        )

    def _private_zones(
        self, name: str, plan: Sequence[ZoneSubnets], cluster_name: str | None
    ) -> tuple[dict[str, "ec2.Subnet"], dict[str, "ec2.RouteTable"], dict[str, "ec2.RouteTableAssociation"]]:
        """Per zone: private subnet, its own route table (so that a change of NAT moves no subnet), and their tie."""
        found_by = {"kubernetes.io/role/internal-elb": "1"}
        if cluster_name is not None:
            found_by["karpenter.sh/discovery"] = cluster_name
        subnets: dict[str, ec2.Subnet] = {}
        tables: dict[str, ec2.RouteTable] = {}
        associations: dict[str, ec2.RouteTableAssociation] = {}
        for zone in plan:
            child = f"{name}-private-{zone.zone}"
            subnets[zone.zone] = self._subnet(child, zone.zone, zone.private, found_by)
            tables[zone.zone] = ec2.RouteTable(
                f"{child}-routes", vpc_id=self.vpc_id, tags=self.tags(f"{child}-routes"), opts=self.child()
            )
            associations[zone.zone] = ec2.RouteTableAssociation(
                f"{child}-association",
                subnet_id=subnets[zone.zone].id,
                route_table_id=tables[zone.zone].id,
                opts=self.child(),
            )
        return subnets, tables, associations

    def _subnet(self, child: str, zone: str, cidr: str, found_by: Mapping[str, str]) -> "ec2.Subnet":
        return ec2.Subnet(
            child,
            vpc_id=self.vpc_id,
            availability_zone_id=zone,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags={**self.tags(child), **found_by},
            opts=self.child(),
        )

    def _nat(
        self,
        name: str,
        plan: Sequence[ZoneSubnets],
        gateway_zones: Sequence[str],
        tables: Mapping[str, "ec2.RouteTable"],
    ) -> dict[str, list[pulumi.Resource]]:
        """Public subnets, internet gateway and NAT gateways; zone -> all that a private node there needs to get out."""
        internet = ec2.InternetGateway(
            f"{name}-internet", vpc_id=self.vpc_id, tags=self.tags(f"{name}-internet"), opts=self.child()
        )
        public_table = ec2.RouteTable(
            f"{name}-public-routes", vpc_id=self.vpc_id, tags=self.tags(f"{name}-public-routes"), opts=self.child()
        )
        public_route = ec2.Route(
            f"{name}-public-default",
            route_table_id=public_table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=self.child(),
        )
        gateways: dict[str, ec2.NatGateway] = {}
        leads_out: dict[str, list[pulumi.Resource]] = {}
        for zone in plan:
            child = f"{name}-public-{zone.zone}"
            subnet = self._subnet(child, zone.zone, zone.public, {"kubernetes.io/role/elb": "1"})
            association = ec2.RouteTableAssociation(
                f"{child}-association", subnet_id=subnet.id, route_table_id=public_table.id, opts=self.child()
            )
            self.public_subnet_ids[zone.zone] = subnet.id
            if zone.zone in gateway_zones:
                gateways[zone.zone] = self._nat_gateway(f"{name}-nat-{zone.zone}", zone.zone, subnet, internet)
                leads_out[zone.zone] = [public_route, association]
        ways_out: dict[str, list[pulumi.Resource]] = {}
        for zone_id, table in tables.items():
            through = zone_id if zone_id in gateways else gateway_zones[0]
            route = ec2.Route(
                f"{name}-private-{zone_id}-default",
                route_table_id=table.id,
                destination_cidr_block="0.0.0.0/0",
                nat_gateway_id=gateways[through].id,
                opts=self.child(),
            )
            ways_out[zone_id] = [route, *leads_out[through]]
        return ways_out

    def _nat_gateway(
        self, child: str, zone: str, subnet: "ec2.Subnet", internet: "ec2.InternetGateway"
    ) -> "ec2.NatGateway":
        # AWS rejects both before the VPC has its gateway (Gateway.NotAttached), and will not detach the gateway while
        # an address is in use; neither takes the gateway's id. pulumi/pulumi-aws#1221, hashicorp/terraform#2181
        attached = self.child(depends_on=[internet])
        address = ec2.Eip(f"{child}-address", domain="vpc", tags=self.tags(f"{child}-address"), opts=attached)
        self.nat_public_ips[zone] = address.public_ip
        return ec2.NatGateway(
            child, subnet_id=subnet.id, allocation_id=address.id, tags=self.tags(child), opts=attached
        )
