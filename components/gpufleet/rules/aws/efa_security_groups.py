"""Rules on security groups of EFA interfaces, as a program's resources make them."""

from collections.abc import Sequence

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("aws-efa-group-to-self", Severity.ERROR)
def group_to_self(*, ingress: bool | None, egress: bool | None) -> Outcome:
    """A security group of the EFA interfaces lets all traffic in from itself and out to itself.

    Each is None where it is not known. 0.0.0.0/0 is not a substitute: EFA packets have no IP address.
    Source: gardener/gardener-extension-provider-aws#1832 (Unresponsive receiver: reachable by EFA device but
    handshake failed); https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security
    """
    if ingress and egress:
        return passed()
    missing = " and ".join(name for name, found in (("ingress", ingress), ("egress", egress)) if found is False)
    if not missing:
        problem = "whether their rules let all traffic in and out between members is not known from the program"
        fix = "make sure of both directions, all protocols, with the group itself as the other side"
        return unverified("security_groups", None, problem, fix)
    problem = f"there is no {missing} of all protocols between members, so that EFA hangs at its first message"
    fix = f"add {missing} of protocol -1 with the group itself as the other side; 0.0.0.0/0 does not match EFA"
    return failed("security_groups", missing, problem, fix)


@rule("aws-fabric-cards", Severity.ERROR)
def one_on_each_card(*, cards: Sequence[int]) -> Outcome:
    """Each network card carries one EFA interface at most; `cards` are the indexes that those interfaces name.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html: up to one EFA interface per
    network card; aws/aws-ofi-nccl#53: a second one without an index of its own was rejected.
    """
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if not twice:
        return passed()
    fix = "give each EFA interface its own network_card_index"
    return failed("network_card_index", twice[0], f"is named by {cards.count(twice[0])} EFA interfaces", fix)
