"""EFA, AWS's network for multi-node training: which interfaces a node has, and the security group they need."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_aws import ec2, vpc

from gpufleet.component import Component


@dataclass(frozen=True)
class Interface:
    """One network interface of a launch template: its network card, its place on that card, and its kind."""

    card: int
    device: int
    kind: str
    """``efa`` (fabric and IP), ``efa-only`` (fabric, no IP address) or ``interface`` (IP only)."""


def interfaces(cards: int, first_card_has_efa: bool = True) -> list[Interface]:
    """The interfaces of a node with ``cards`` EFA devices: one per network card.

    Card 0 carries the node's address. The others carry the fabric only, so they take no address of the subnet;
    that needs VPC CNI 1.18.5 or newer. Where card 0 has no EFA, it is a plain interface and ``cards`` more follow.
    Device 1 on the further cards is what was tried on p4d, p5 and trn1 (eksctl-io/eksctl#7643, aws/aws-k8s-tester#531);
    AWS's guide now shows device 0 there, on its own, and keeps device 1 for a further ENA interface:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    """
    first = Interface(0, 0, "efa" if first_card_has_efa else "interface")
    others = range(1, cards if first_card_has_efa else cards + 1)
    return [first, *(Interface(card, 1, "efa-only") for card in others)]


def security_group(
    name: str,
    vpc_id: pulumi.Input[str],
    parent: Component,
    *,
    traffic: str = "EFA",
    pool: str = "pool",
) -> ec2.SecurityGroup:
    """A security group whose members talk to each other, EFA or any other protocol.

    ``traffic`` and ``pool`` are what its descriptions call the traffic, and what the members make up.

    EFA packets have no IP address, so a rule on 0.0.0.0/0 does not match them: both directions must name the group
    itself, for all protocols (gardener/gardener-extension-provider-aws#1832). Without the rules nothing fails until
    a job hangs. They are separate resources, since a group whose rules name itself inline cannot be deleted.
    """
    group = ec2.SecurityGroup(
        name,
        description=f"{traffic} between the nodes of one {pool}",
        vpc_id=vpc_id,
        tags=parent.tags(name),
        opts=parent.child(),
    )
    vpc.SecurityGroupIngressRule(
        f"{name}-from-self",
        security_group_id=group.id,
        referenced_security_group_id=group.id,
        ip_protocol="-1",
        description=f"{traffic} from the {pool} itself",
        tags=parent.tags(f"{name}-from-self"),
        opts=parent.child(),
    )
    vpc.SecurityGroupEgressRule(
        f"{name}-to-self",
        security_group_id=group.id,
        referenced_security_group_id=group.id,
        ip_protocol="-1",
        description=f"{traffic} to the {pool} itself",
        tags=parent.tags(f"{name}-to-self"),
        opts=parent.child(),
    )
    vpc.SecurityGroupEgressRule(
        f"{name}-to-all",
        security_group_id=group.id,
        cidr_ipv4="0.0.0.0/0",
        ip_protocol="-1",
        description="Images, APIs and storage",
        tags=parent.tags(f"{name}-to-all"),
        opts=parent.child(),
    )
    return group
