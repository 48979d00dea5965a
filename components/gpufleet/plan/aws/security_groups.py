"""Security groups of a plan, and what their rules let through: inline ones and rules that are resources."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from gpufleet.plan.property_values import blocks, get_path, items, number, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
CLUSTER = "aws:eks/cluster:Cluster"
INGRESS = "ingress"
EGRESS = "egress"
RULES = {
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": INGRESS,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": EGRESS,
}
OLD_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
_ALL = ("-1", "all")
_TCP = ("tcp", "6")
_NFS = 2049
_LUSTRE = 988


@dataclass(frozen=True)
class SecurityGroupRule:
    """One rule of a group. protocol, first and last port: None where not known.

    peers: URNs of the groups on its other side (of the cluster, for the group that EKS makes). itself: whether the
    group is its own other side. addresses: whether ranges of addresses or prefix lists are on its other side.
    outside: whether groups that the program does not make are.
    """

    direction: str
    protocol: str | None
    first: int | None
    last: int | None
    peers: frozenset[str]
    itself: bool
    addresses: bool
    outside: bool


class SecurityGroups:
    """What the security groups of a plan let through, by URN; that of the cluster is its own group's."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._openings: dict[str, list[SecurityGroupRule]] = {}
        self._hidden: set[tuple[str, str]] = set()
        for cluster in plan.of_type(CLUSTER):
            self._openings[cluster.urn] = [_everything(INGRESS), _everything(EGRESS)]
            # Anybody may have added to what EKS makes.
            self._hidden |= {(cluster.urn, INGRESS), (cluster.urn, EGRESS)}
        for group in plan.of_type(SECURITY_GROUP):
            self._openings.setdefault(group.urn, [])
            for direction in (INGRESS, EGRESS):
                self._read_inline(group, direction)
        for kind, direction in RULES.items():
            for rule in plan.of_type(kind):
                self._read_rule(rule, direction)
        for rule in plan.of_type(OLD_RULE):
            if isinstance(said := value_of(rule, "type"), str):
                self._read_rule(rule, said)

    def of(self, resource: Resource, name: str) -> set[str]:
        """URNs of the groups that a property was made from; of the cluster where that is the cluster's own."""
        found = self._plan.behind(resource, name, SECURITY_GROUP) + self._plan.behind(resource, name, CLUSTER)
        return {each.urn for each in found}

    def to_self(self, urn: str, direction: str) -> bool | None:
        """Whether members let everything through to each other; None if it cannot be told."""
        rules = [each for each in self._openings.get(urn, ()) if each.direction == direction]
        if any(each.itself and each.protocol in _ALL for each in rules):
            return True
        doubtful = any(each.protocol is None and (each.itself or each.outside) for each in rules)
        unclear = any(each.outside and each.protocol in _ALL for each in rules)
        return None if doubtful or unclear or (urn, direction) in self._hidden else False

    def nfs_from(self, urns: Collection[str], clients: Collection[str]) -> bool | None:
        """Whether one of these groups lets TCP 2049 in from one of the clients (from anybody, if there are none)."""
        return self._lets_in(urns, clients, _NFS)

    def lustre_from(self, urns: Collection[str], clients: Collection[str]) -> bool | None:
        """Whether one of these groups lets TCP 988 in from one of the clients."""
        return self._lets_in(urns, clients, _LUSTRE)

    def _lets_in(self, urns: Collection[str], clients: Collection[str], port: int) -> bool | None:
        answers = [self._lets_port(urn, clients, port) for urn in urns]
        if True in answers:
            return True
        return None if None in answers or not answers else False

    def _lets_port(self, urn: str, clients: Collection[str], port: int) -> bool | None:
        rules = [
            each
            for each in self._openings.get(urn, ())
            if each.direction == INGRESS and _lets_tcp(each, port) is not False
        ]
        fitting = [
            each
            for each in rules
            if not clients or each.addresses or each.peers & set(clients) or (each.itself and urn in clients)
        ]
        if any(_lets_tcp(each, port) for each in fitting):
            return True
        doubt = fitting or any(each.outside for each in rules) or (urn, INGRESS) in self._hidden
        return None if doubt else False

    def _read_inline(self, group: Resource, direction: str) -> None:
        value = value_of(group, direction)
        if value is UNKNOWN or UNKNOWN in items(value):
            self._hidden.add((group.urn, direction))
        peers = frozenset(self.of(group, direction))
        for block in blocks(value):
            listed = items(get_path(block, "securityGroups"))
            self._openings[group.urn].append(
                SecurityGroupRule(
                    direction,
                    _protocol(get_path(block, "protocol")),
                    number(get_path(block, "fromPort")),
                    number(get_path(block, "toPort")),
                    peers if listed else frozenset(),
                    get_path(block, "self") is True,
                    any(
                        get_path(block, name) is not None for name in ("cidrBlocks", "ipv6CidrBlocks", "prefixListIds")
                    ),
                    outside=len(listed) > len(peers),
                )
            )

    def _read_rule(self, rule: Resource, direction: str) -> None:
        modern = "referencedSecurityGroupId" if rule.type in RULES else "sourceSecurityGroupId"
        peers = frozenset(self.of(rule, modern))
        ranges = ("cidrIpv4", "cidrIpv6", "prefixListId", "cidrBlocks", "ipv6CidrBlocks", "prefixListIds")
        named = value_of(rule, modern)
        for owner in self._owners(rule):
            self._openings.setdefault(owner, []).append(
                SecurityGroupRule(
                    direction,
                    _protocol(value_of(rule, "ipProtocol" if rule.type in RULES else "protocol")),
                    number(value_of(rule, "fromPort")),
                    number(value_of(rule, "toPort")),
                    peers,
                    owner in peers or value_of(rule, "self") is True,
                    any(value_of(rule, name) is not None for name in ranges),
                    outside=named is not None and not peers,
                )
            )

    def _owners(self, rule: Resource) -> Iterator[str]:
        yield from sorted(self.of(rule, "securityGroupId"))


def _everything(direction: str) -> SecurityGroupRule:
    """EKS's first rules of a cluster's group: all traffic between its members, both ways, EFA's too.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html
    """
    return SecurityGroupRule(direction, "-1", None, None, frozenset(), itself=True, addresses=False, outside=False)


def _protocol(value: object) -> str | None:
    if isinstance(value, str):
        return value.lower()
    whole = number(value)
    return None if whole is None else str(whole)


def _lets_tcp(rule: SecurityGroupRule, port: int) -> bool | None:
    if rule.protocol in _ALL:
        return True
    if rule.protocol is not None and rule.protocol not in _TCP:
        return False
    if rule.protocol is None or rule.first is None or rule.last is None:
        return None
    return rule.first <= port <= rule.last
