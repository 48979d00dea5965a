"""HybridNodes: how on-prem servers join an EKS cluster, and their permissions in AWS."""

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import eks, iam, rolesanywhere, ssm, vpc

from gpufleet.aws.hybrid_nodes_policies import CLUSTER_TAG, MANAGED_POLICIES, node_policy, trust_certificates, trust_ssm
from gpufleet.aws.partition import managed_policy
from gpufleet.aws.remote_networks import RemoteNetworks
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.aws.hybrid_credentials import MOST_SERVERS, validate_hybrid_nodes
from gpufleet.typed_dicts import NumberRange

API, DNS = 443, 53

Credentials = Literal["ssm", "roles-anywhere"]


class HybridNodesConfig(TypedDict):
    """How on-prem servers authenticate."""

    count: NotRequired[Annotated[int, NumberRange(1, MOST_SERVERS)]]
    """Servers that may register with the activation, 1 to 1000; a server that is set up again counts again. Default 1.
    Only with ssm. Another number makes a new activation; those that have joined stay."""
    activation_expires: NotRequired[str]
    """Day (UTC) at whose beginning the activation ends, at most 30 days ahead, for instance 2026-12-01. Default: 24
    hours after it is made. Only with ssm. Another day makes a new activation; those that have joined stay."""
    certificate_authority: NotRequired[str]
    """Certificate (PEM) of the authority that signs those of the servers. Only with roles-anywhere."""


class HybridNodesArgs(HybridNodesConfig):
    """The same, the cluster that they join, and where they are."""

    cluster_name: pulumi.Input[str]
    """The EKS cluster, which has the same ``remote_networks``; its authentication mode has access entries."""
    cluster_security_group_id: pulumi.Input[str]
    """The group that EKS makes for it; the servers' networks are let in there."""
    region: NotRequired[str]
    """Region of the cluster, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    remote_networks: RemoteNetworks
    """Networks of the servers and of their pods, as the cluster has them."""
    credentials: Credentials
    """ssm: an activation of Systems Manager, for those without their own certificates. roles-anywhere: each server
    has a certificate from your own authority. A change replaces the servers' role: each server joins again."""
    activation: NotRequired[bool]
    """Whether servers may register already. With ssm, the activation is made then, and its 24 hours begin. Default
    true."""
    vpc_cidr: NotRequired[str]
    """IPv4 range of the cluster's VPC, to see whether the networks overlap. Default: not looked at."""
    service_cidr: NotRequired[str]
    """IPv4 range of the cluster's services, likewise. Default: either of those that EKS chooses from."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def openings(networks: RemoteNetworks) -> dict[str, tuple[str, str, int]]:
    """What the cluster's security group lets in: a name to (IPv4 range, protocol, port).

    The API of the cluster; and names of services, since the cluster's DNS runs on nodes of the cloud. Each from the
    servers, whose addresses their pods' packets have on the way out, and from the pods where they keep their own.
    Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-networking.html
    """
    found: dict[str, tuple[str, str, int]] = {}
    for kind, cidrs in (("nodes", networks["nodes"]), ("pods", networks.get("pods", ()))):
        for cidr in cidrs:
            where = f"{kind}-{cidr.replace('.', '-').replace('/', '-')}"
            found[f"{where}-api"] = (cidr, "tcp", API)
            found[f"{where}-dns-tcp"] = (cidr, "tcp", DNS)
            found[f"{where}-dns-udp"] = (cidr, "udp", DNS)
    return found


class HybridNodes(Component):
    """EKS hybrid nodes: the servers' role and access entry, rules for their networks, and credentials."""

    role_arn: pulumi.Output[str]
    """The role that the servers have in AWS, once the cluster knows it and it has its rights."""
    credentials: pulumi.Output[dict[str, str]]
    """Secret: what a server joins with. For ssm activation_id and activation_code; for roles-anywhere trust_anchor_arn,
    profile_arn and role_arn, beside the certificate that the server has already. Empty without ``activation``."""

    def __init__(
        self, name: str, args: HybridNodesArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[HybridNodesArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: HybridNodesArgs) -> list[Finding]:
        return validate_hybrid_nodes(args)

    def create(self, name: str, args: HybridNodesArgs) -> None:
        region, cluster = args["region"], pulumi.Output.from_input(args["cluster_name"])
        account = self._ways_in(name, args)
        anchor = None
        if args["credentials"] == "ssm":
            trust = account.apply(lambda known: trust_ssm(region, known))
        else:
            anchor = self._anchor(name, args["certificate_authority"])
            trust = anchor.arn.apply(trust_certificates)
        role = iam.Role(f"{name}-role", assume_role_policy=trust, tags=self.tags(f"{name}-role"), opts=self.child())
        rights: list[pulumi.Resource] = [
            iam.RolePolicyAttachment(
                f"{name}-role-{policy}",
                role=role.name,
                policy_arn=managed_policy(region, policy),
                opts=self.child(),
            )
            for policy in MANAGED_POLICIES[args["credentials"]]
        ]
        rights.append(
            iam.RolePolicy(
                f"{name}-role-policy",
                role=role.name,
                policy=pulumi.Output.all(cluster, account).apply(
                    lambda known: node_policy(args["credentials"], region, known[1], known[0])
                ),
                opts=self.child(),
            )
        )
        entry = eks.AccessEntry(
            f"{name}-access",
            cluster_name=cluster,
            principal_arn=role.arn,
            type="HYBRID_LINUX",
            tags=self.tags(f"{name}-access"),
            opts=self.child(),
        )
        # Who joins needs both: the cluster knows the role, and the role has its rights.
        self.role_arn = with_dependencies(role.arn, entry, *rights)
        if not args.get("activation", True):
            nothing: dict[str, str] = {}
            self.credentials = pulumi.Output.secret(nothing)
        elif anchor is None:
            self.credentials = self._activation(name, args, cluster, with_dependencies(role.name, entry, *rights))
        else:
            self.credentials = self._profile(name, anchor)

    def _ways_in(self, name: str, args: HybridNodesArgs) -> pulumi.Output[str]:
        """Let the networks in. Returns the account's number, which the first rule's ARN tells."""
        rules = []
        for where, (cidr, protocol, port) in openings(args["remote_networks"]).items():
            child = f"{name}-{where}"
            rules.append(
                vpc.SecurityGroupIngressRule(
                    child,
                    security_group_id=args["cluster_security_group_id"],
                    cidr_ipv4=cidr,
                    ip_protocol=protocol,
                    from_port=port,
                    to_port=port,
                    description=f"{'API' if port == API else 'DNS'} of the cluster for own servers",
                    tags=self.tags(child),
                    opts=self.child(),
                )
            )
        return rules[0].arn.apply(lambda arn: arn.split(":")[4])

    def _activation(
        self, name: str, args: HybridNodesArgs, cluster: pulumi.Output[str], role: pulumi.Output[str]
    ) -> pulumi.Output[dict[str, str]]:
        child = f"{name}-activation"
        day = args.get("activation_expires")
        activation = ssm.Activation(
            child,
            name=cluster,
            description="Own servers of an EKS cluster",
            iam_role=role,
            registration_limit=int(args.get("count", 1)),
            expiration_date=None if day is None else f"{day}T00:00:00Z",
            # Servers that register have these tags too; by the cluster's they may take themselves off, and no others.
            tags={**self.tags(child), CLUSTER_TAG: cluster},
            opts=self.child(additional_secret_outputs=["activationCode"]),
        )
        return pulumi.Output.secret(
            pulumi.Output.all(activation_id=activation.id, activation_code=activation.activation_code)
        )

    def _anchor(self, name: str, authority: str) -> "rolesanywhere.TrustAnchor":
        child = f"{name}-anchor"
        return rolesanywhere.TrustAnchor(
            child,
            enabled=True,
            source=rolesanywhere.TrustAnchorSourceArgs(
                source_type="CERTIFICATE_BUNDLE",
                source_data=rolesanywhere.TrustAnchorSourceSourceDataArgs(x509_certificate_data=authority),
            ),
            tags=self.tags(child),
            opts=self.child(),
        )

    def _profile(self, name: str, anchor: "rolesanywhere.TrustAnchor") -> pulumi.Output[dict[str, str]]:
        child = f"{name}-profile"
        profile = rolesanywhere.Profile(
            child,
            enabled=True,
            # A server's session has its node's name, which its certificate has too.
            accept_role_session_name=True,
            role_arns=[self.role_arn],
            tags=self.tags(child),
            opts=self.child(),
        )
        return pulumi.Output.secret(
            pulumi.Output.all(trust_anchor_arn=anchor.arn, profile_arn=profile.arn, role_arn=self.role_arn)
        )
