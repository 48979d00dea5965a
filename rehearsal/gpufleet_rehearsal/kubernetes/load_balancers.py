"""Load balancers for Services of type LoadBalancer: EKS's service controller on the simulated cloud.

As k8s.io/cloud-provider v0.34 (controllers/service) and kubernetes/cloud-provider-aws (pkg/providers/v1/aws.go) do,
read in November 2026. The simulated cloud has no load balancers: of each one only its network interfaces and its
security group are there. They are what holds a network (appvia/kore#610, aws/aws-cdk#12130, eksctl-io/eksctl#1960).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.table.paths import Json
from gpufleet_rehearsal.table.templates import generated

CLUSTER, VPC, SUBNET = "aws:eks/cluster:Cluster", "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet"
ROUTE_TABLE, ROUTE = "aws:ec2/routeTable:RouteTable", "aws:ec2/route:Route"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
INTERFACE, GROUP = "aws:ec2/networkInterface:NetworkInterface", "aws:ec2/securityGroup:SecurityGroup"

FINALIZER = "service.kubernetes.io/load-balancer-cleanup"
ANNOTATION = "service.beta.kubernetes.io/aws-load-balancer-"
OF_CLUSTERS = "kubernetes.io/cluster/"
"""Begins the tag of a subnet that says whose it is."""
RELEASE_SECONDS = 20.0
"""From the deletion of a load balancer until its interfaces are gone; assumed. The controller looks every 10 s."""
NO_SUBNETS = "could not find any suitable subnets for creating the ELB"
Service = Mapping[str, Any]


class ServiceTable(Protocol):
    """The Services of a control plane. Changes answer whether they were made; False: the Service is another by now."""

    def all(self) -> Sequence[Service]: ...

    def hold(self, service: Service) -> bool: ...

    def let_go(self, service: Service) -> bool: ...

    def set_address(self, service: Service, hostname: str) -> bool: ...

    def warn(self, service: Service, text: str) -> None: ...


@dataclass(frozen=True)
class LoadBalancer:
    """The load balancer that a Service asks for. network: a Network Load Balancer instead of a classic one.

    groups: security groups that the Service names, empty where the controller makes one. problem: why the controller
    makes none, in its words.
    """

    name: str
    service: str
    network: bool
    internal: bool
    groups: tuple[str, ...]
    extra_groups: tuple[str, ...]
    problem: str

    @property
    def description(self) -> str:
        """Of its interfaces, as ELB writes it."""
        return f"ELB net/{self.name}/{generated('hex', 16, self.name)}" if self.network else f"ELB {self.name}"

    def hostname(self, region: str) -> str:
        """Its address: as AWS forms it, in the rehearsal's domain, where nothing is found."""
        if self.network:
            return f"{self.name}-{generated('hex', 16, self.name)}.elb.{region}.rehearsal.invalid"
        name = f"{'internal-' if self.internal else ''}{self.name}-{generated('digits', 10, self.name)}"
        return f"{name}.{region}.elb.rehearsal.invalid"


def load_balancer_of(service: Service) -> LoadBalancer:
    """What a Service of type LoadBalancer asks for."""
    metadata, spec = service["metadata"], service["spec"]
    said = metadata.get("annotations") or {}
    network = said.get(f"{ANNOTATION}type") == "nlb"
    allowed = ("TCP", "UDP") if network else ("TCP",)
    refused = [port["protocol"] for port in spec.get("ports") or [] if port.get("protocol", "TCP") not in allowed]
    problem = f"Protocol {refused[0]} not supported by LoadBalancer" if refused else ""
    if spec.get("loadBalancerIP"):
        problem = "LoadBalancerIP cannot be specified for AWS ELB"
    return LoadBalancer(
        name=_name(service),
        service=f"{metadata['namespace']}/{metadata['name']}",
        network=network,
        internal=said.get(f"{ANNOTATION}internal", "") not in ("", "false"),
        groups=_listed(said.get(f"{ANNOTATION}security-groups")),
        extra_groups=_listed(said.get(f"{ANNOTATION}extra-security-groups")),
        problem=problem,
    )


def is_ours(service: Service) -> bool:
    """Whether the controller makes a load balancer of it. Those of a class, or of another controller's type, it
    leaves to that one (the AWS Load Balancer Controller), which nobody plays."""
    spec, said = service["spec"], service["metadata"].get("annotations") or {}
    elsewhere = said.get(f"{ANNOTATION}type") in ("external", "nlb-ip")
    return spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass") and not elsewhere


def is_to_go(service: Service) -> bool:
    """Whether its load balancer is to be deleted: with the Service, or as it has become one of another type."""
    metadata = service["metadata"]
    unwanted = bool(metadata.get("deletionTimestamp")) or service["spec"].get("type") != "LoadBalancer"
    return FINALIZER in (metadata.get("finalizers") or ()) and unwanted


def subnets_for(store: Store, cluster: SimulatedResource, *, internal: bool) -> list[SimulatedResource]:
    """One subnet of the cluster's VPC for each zone; where it is to be reached from outside, only public ones."""
    vpc = str(_mapping(cluster.view.get("vpcConfig")).get("vpcId"))
    own = f"{OF_CLUSTERS}{cluster.view.get('name')}"
    role = f"kubernetes.io/role/{'internal-elb' if internal else 'elb'}"
    found: dict[str, SimulatedResource] = {}
    for subnet in store.resources(SUBNET):
        tags = subnet.tags
        of_others = own not in tags and any(tag.startswith(OF_CLUSTERS) for tag in tags)
        if subnet.view.get("vpcId") != vpc or subnet.status != "available" or of_others:
            continue
        if not (internal or is_public(store, subnet)):
            continue
        zone = str(subnet.view.get("availabilityZone"))
        found[zone] = min(
            [subnet, *([found[zone]] if zone in found else [])],
            key=lambda each: (role not in each.tags, own not in each.tags, each.id),
        )
    return [found[zone] for zone in sorted(found)]


def is_public(store: Store, subnet: SimulatedResource) -> bool:
    """Whether its route table, else the VPC's main one, leads to an internet gateway."""
    ties = [tie.view for tie in store.resources(ASSOCIATION)]
    named = [tie.get("routeTableId") for tie in ties if tie.get("subnetId") == subnet.id]
    mains = [vpc.view.get("mainRouteTableId") for vpc in store.resources(VPC) if vpc.id == subnet.view.get("vpcId")]
    table = (named or mains or [None])[0]
    routes = [route.view for route in store.resources(ROUTE) if route.view.get("routeTableId") == table]
    for each in store.resources(ROUTE_TABLE):
        inner = each.view.get("routes") if each.id == table else None
        routes += [_mapping(route) for route in inner] if isinstance(inner, list) else []
    return any(str(route.get("gatewayId")).startswith("igw-") for route in routes)


class LoadBalancers:
    """The load balancers of one rehearsal. They are looked after as long as an EKS cluster is there: what is left when
    it goes stays in the cloud, as it does in AWS."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._warned: set[tuple[str, str]] = set()

    def follow(self, services: ServiceTable) -> list[str]:
        """Make and delete load balancers as the Services say; what was done, a line each."""
        done: list[str] = []
        if self._cluster() is None:
            return done
        for service in services.all():
            if is_to_go(service):
                done += self._end(service, services)
            elif is_ours(service) and not service["metadata"].get("deletionTimestamp"):
                done += self._ensure(service, services)
        return done

    def forget(self) -> None:
        """The control plane is lost, and its Services are: no controller of a real cluster loses any."""
        if self._cluster() is not None:
            with self._store.transaction():
                for held in self._of(None):
                    self._store.remove(held, self._clock.now())

    def _cluster(self) -> SimulatedResource | None:
        """The oldest one: all clusters of a rehearsal have one control plane."""
        there = [cluster for cluster in self._store.resources(CLUSTER) if cluster.status == "available"]
        return next((one for one in there if not self._clock.counts or one.ready_at <= self._clock.now()), None)

    def _of(self, name: str | None) -> list[SimulatedResource]:
        """Interfaces, then groups, of one load balancer, or of all of them."""
        held = [each for type_ in (INTERFACE, GROUP) for each in self._store.resources(type_) if each.hidden]
        return [each for each in held if (its := _balancer_name(each)) is not None and name in (None, its)]

    def _ensure(self, service: Service, services: ServiceTable) -> list[str]:
        metadata, balancer = service["metadata"], load_balancer_of(service)
        # Before anything is made, so that the Service stays until it is gone again.
        if FINALIZER not in (metadata.get("finalizers") or ()) and not services.hold(service):
            return []
        cluster, done = self._cluster(), []
        if cluster is not None and not self._of(balancer.name):
            if problem := self._made(balancer):
                self._warn(service, balancer, problem, services)
                return []
            done = [f"{balancer.service}: ELB {balancer.name} is there"]
        hostname = balancer.hostname(_region(cluster)) if cluster else ""
        ingress = _mapping(_mapping(service.get("status")).get("loadBalancer")).get("ingress")
        if hostname and ingress != [{"hostname": hostname}]:
            services.set_address(service, hostname)
        return done

    def _warn(self, service: Service, balancer: LoadBalancer, problem: str, services: ServiceTable) -> None:
        """Once for each problem."""
        if (balancer.name, problem) not in self._warned:
            self._warned.add((balancer.name, problem))
            services.warn(service, f"Error syncing load balancer: failed to ensure load balancer: {problem}")

    def _made(self, balancer: LoadBalancer) -> str:
        """Make a load balancer, unless another process has. Why not, in the controller's words; empty: it is there."""
        with self._store.transaction():
            cluster = self._cluster()
            if cluster is None or self._of(balancer.name):
                return ""
            subnets = subnets_for(self._store, cluster, internal=balancer.internal)
            if problem := balancer.problem or ("" if subnets else NO_SUBNETS):
                return problem
            self._put(cluster, balancer, subnets)
            return ""

    def _put(self, cluster: SimulatedResource, balancer: LoadBalancer, subnets: Sequence[SimulatedResource]) -> None:
        groups = [*balancer.groups, *balancer.extra_groups]
        # A Network Load Balancer of this controller has none.
        if not balancer.groups and not balancer.network:
            vpc = _mapping(cluster.view.get("vpcConfig")).get("vpcId")
            text = f"Security group for Kubernetes ELB {balancer.name} ({balancer.service})"
            id_ = f"sg-{generated('hex', 17, balancer.name)}"
            name = f"k8s-elb-{balancer.name}"
            tags = {f"{OF_CLUSTERS}{cluster.view.get('name')}": "owned"}
            self._add(GROUP, id_, cluster, balancer, {"name": name, "description": text, "vpcId": vpc, "tags": tags})
            groups = [id_, *groups]
        for subnet in subnets:
            id_ = f"eni-{generated('hex', 17, balancer.name, subnet.id)}"
            inputs: dict[str, Json] = {"description": balancer.description, "subnetId": subnet.id}
            # No tag of AWS's: by it the table knows those without a public address.
            inputs |= {"securityGroups": list(groups), "tags": {"scheme": "internal"} if balancer.internal else {}}
            self._add(INTERFACE, id_, cluster, balancer, inputs)

    def _add(
        self, type_: str, id_: str, cluster: SimulatedResource, balancer: LoadBalancer, inputs: Mapping[str, Json]
    ) -> None:
        """Nobody's, and the environment's of the cluster: what is left of it counts as left behind."""
        now, name = self._clock.now(), f"ELB {balancer.name} of Service {balancer.service}"
        self._store.add(
            type_=type_, id_=id_, urn=cluster.urn, name=name, inputs=inputs,
            outputs={"region": _region(cluster)}, at=now, ready_at=now, hidden=True,
        )  # fmt: skip

    def _end(self, service: Service, services: ServiceTable) -> list[str]:
        name = _name(service)
        if not self._released(name):
            return []
        if service["spec"].get("type") != "LoadBalancer" and _mapping(service.get("status")).get("loadBalancer"):
            services.set_address(service, "")
        services.let_go(service)
        return [f"{service['metadata']['namespace']}/{service['metadata']['name']}: ELB {name} is gone"]

    def _released(self, name: str) -> bool:
        """Delete a load balancer: its interfaces go after a while, then its group, which they held.
        Whether all is gone."""
        with self._store.transaction():
            if self._cluster() is None:
                return False
            waits = False
            for held in self._of(name):
                if held.type == GROUP:
                    if not waits:
                        self._store.remove(held, self._clock.now())
                    continue
                if held.status != "deleting":
                    held = self._store.change(held, status="deleting", ready_at=self._clock.ends(RELEASE_SECONDS))
                if held.ready_at <= self._clock.now():
                    self._store.remove(held, self._clock.now())
                else:
                    waits = True
        return not waits


def _name(service: Service) -> str:
    """Of a Service's load balancer."""
    return f"a{str(service['metadata']['uid']).replace('-', '')}"[:32]


def _balancer_name(held: SimulatedResource) -> str | None:
    """The load balancer of an interface or a group of the cloud's; None when it is of none."""
    if held.type == GROUP:
        name = str(held.view.get("name"))
        return name.removeprefix("k8s-elb-") if name.startswith("k8s-elb-") else None
    text = str(held.view.get("description"))
    return text.removeprefix("ELB ").removeprefix("net/").partition("/")[0] if text.startswith("ELB ") else None


def _region(cluster: SimulatedResource) -> str:
    return str(cluster.view.get("region"))


def _listed(said: object) -> tuple[str, ...]:
    return tuple(part for each in str(said or "").split(",") if (part := each.strip()))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
