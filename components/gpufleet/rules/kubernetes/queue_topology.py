"""Rules on the topology of a queue: the levels of the network by which jobs get nodes near each other."""

from collections.abc import Mapping, Sequence

from gpufleet.catalog.network_layers import LAYER_LABEL
from gpufleet.pools.node_labels import ZONE_ID
from gpufleet.rules import coerce
from gpufleet.rules.generic import distinct
from gpufleet.rules.labels import key_form
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_MOST = 14
_OWN = (ZONE_ID, "kubernetes.io/hostname")


@rule("any-queue-topology-level", Severity.ERROR)
def level_between(*, label: str) -> Outcome:
    """A level of a queue's topology is neither the zone nor the node: these are its first and its last level.

    Source: TopologySpec in apis/kueue/v1beta2/topology_types.go of github.com/kubernetes-sigs/kueue: levels are unique.
    """
    if label not in _OWN:
        return passed()
    return failed("topology_levels", label, "is a level of every topology already", "leave it out")


@rule("any-queue-topology-depth", Severity.ERROR)
def level_count(*, count: int) -> Outcome:
    """A topology has no more levels than Kueue takes.

    Source: MaxItems of levels in apis/kueue/v1beta2/topology_types.go of github.com/kubernetes-sigs/kueue (16, with
    zone and node).
    """
    if count <= _MOST:
        return passed()
    return failed("topology_levels", count, f"is more levels than the {_MOST} that Kueue allows", "leave some out")


@rule("any-queue-topology-nodes", Severity.ERROR)
def nodes_stay(*, least: int, most: int) -> Outcome:
    """A pool under a topology always has all of its nodes.

    Source: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/: Kueue places a job on nodes that exist.
    A job that fits on none of them is never admitted, so that no autoscaler sees its pods.
    """
    if least == most:
        return passed()
    fix = f"set min={most}, or leave gpufleet:queue.topology_levels out"
    return failed("min", least, f"is less than max={most}, and a queue with a topology starts no node", fix)


@rule("aws-queue-topology-types", Severity.ERROR)
def layers_labelled(*, types: Sequence[str], layer: int, layers: Mapping[str, int]) -> Outcome:
    """A level of AWS's network is one that nodes of the pool's types have; `layers`: how many each type has.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-topology-prerequisites.html has the types;
    https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/: nodes without a level's label are left out.
    """
    lacking = [kind for kind in types if layers.get(kind, 0) < layer]
    if not lacking:
        return passed()
    label = f"{LAYER_LABEL}{layer}"
    fix = f"leave {label} out of gpufleet:queue.topology_levels, or use another type"
    return failed("types", list(types), f"have nodes without the label {label} ({join_words(lacking, 'and')})", fix)


def validate_topology(args: Mapping[str, object]) -> list[Finding]:
    """Findings on the levels between zone and node. Reads topology_levels."""
    labels = coerce.texts(args, "topology_levels")
    each = [finding for label in labels for finding in _level(label)]
    return [*each, distinct(argument="topology_levels", values=labels), level_count(count=len(labels))]


def _level(label: str) -> list[Finding]:
    return [key_form(argument="topology_levels", key=label), level_between(label=label)]


def validate_topology_pool(
    args: Mapping[str, object], topology: Sequence[str], layers: Mapping[str, int]
) -> list[Finding]:
    """Findings on a cloud's pool under a topology. Reads types, min and max. layers: of AWS's network, by type."""
    numbers = [label.removeprefix(LAYER_LABEL) for label in topology if label.startswith(LAYER_LABEL)]
    types = coerce.texts(args, "types")
    findings = [
        layers_labelled(types=types, layer=int(number), layers=layers) for number in numbers if number.isdecimal()
    ]
    most = args.get("max")
    if isinstance(most, int):
        findings.append(nodes_stay(least=coerce.whole(args, "min", 0), most=most))
    return findings
