"""Rules on nodes that are in a cluster already, and on the kubeconfig that leads to it."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.catalog import aws, azure
from gpufleet.pools.node_labels import label_value
from gpufleet.rules import coerce
from gpufleet.rules.aws.pool_arguments import TAINT_EFFECTS
from gpufleet.rules.generic import allowed_choice, at_least, distinct, not_empty
from gpufleet.rules.kubernetes.device_plugins import validate_object_labels
from gpufleet.rules.kubernetes.mpi_placement import one_zone
from gpufleet.rules.labels import key_form, value_form
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_NODE = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
ANY = "any"


@rule("any-node-name", Severity.ERROR)
def node_name(*, node: str) -> Outcome:
    """The name of a node is a valid node name.

    Source: https://kubernetes.io/docs/concepts/architecture/nodes/#node-name-uniqueness: a DNS subdomain name (RFC
    1123), of 253 characters at the most.
    """
    if len(node) <= 253 and _NODE.fullmatch(node):
        return passed()
    return failed("nodes", node, "is not a valid node name", "use names as `kubectl get nodes` prints them")


@rule("any-node-pool", Severity.ERROR)
def node_once(*, node: str, pools: Sequence[str]) -> Outcome:
    """A node is in one pool: `pools` are those that name it.

    Source: our own labels: gpufleet.dev/pool has one value, and both pools would count its GPUs.
    """
    if len(pools) == 1:
        return passed()
    return failed("nodes", node, f"is in pools {join_words(pools, 'and')}", "leave it in one of them")


@rule("any-node-place", Severity.ERROR)
def place_name(*, place: str) -> Outcome:
    """A place is not called any, which jobs use for every place.

    Source: our own naming: `gpufleet jobs submit --place any`.
    """
    if place != ANY:
        return passed()
    return failed("place", place, "is reserved for every place", "use another name, such as onprem")


@rule("any-node-gpu", Severity.ERROR)
def gpu_spelling(*, gpu: str, known: Sequence[str]) -> Outcome:
    """A GPU model of the catalog is spelled as in the catalog; other models, which no cloud offers, are free to name.

    Source: gpufleet.pools.node_labels: a job's `--gpu V100` selects nodes by a label, which v100 or V-100 does not
    match.
    """
    meant = [model for model in known if _letters(model) == _letters(gpu)]
    if not meant or gpu in meant:
        return passed()
    return failed("gpu", gpu, "is spelled differently in the catalog, so jobs see two models", f"use {meant[0]}")


@rule("any-kubeconfig-whole", Severity.ERROR)
def kubeconfig_whole(*, faults: Sequence[str]) -> Outcome:
    """A kubeconfig in a configuration leads to one cluster from any machine; `faults` are what keeps it from that.

    Source: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/: paths in it are of
    the machine that it was written on.
    """
    if not faults:
        return passed()
    fix = "set it with `kubectl config view --minify --flatten | pulumi config set --secret gpufleet:kubeconfig`"
    # Its value is a secret.
    return failed("kubeconfig", "[secret]", join_words(faults, "and"), fix)


_OF_OPERATOR = {"device-plugin": "the device plugin", "dcgm-exporter": "DCGM's exporter"}
"""What the GPU operator brings along."""


@rule("any-gpu-plugin-once", Severity.ERROR)
def plugin_once(*, software: Sequence[str]) -> Outcome:
    """NVIDIA's device plugin and DCGM's exporter are installed once: by themselves, or by the GPU operator.

    Source: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html: the operator
    deploys both; two device plugins register nvidia.com/gpu with the same kubelet in turns, and two exporters want the
    same profiling counters.
    """
    twice = [word for part, word in _OF_OPERATOR.items() if part in software] if "gpu-operator" in software else []
    if not twice:
        return passed()
    problem = f"installs {join_words(twice, 'and')} twice"
    return failed("software", list(software), problem, "leave one of the two out")


def validate_onprem_nodes(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on nodes of one kind. Reads gpu, gpus, nodes, place, zone, labels, taints (key, value, effect)."""
    nodes = coerce.texts(args, "nodes")
    place = coerce.text(args, "place", "onprem")
    findings = [
        not_empty(argument="nodes", values=nodes, holds="node"),
        distinct(argument="nodes", values=nodes),
        *(node_name(node=node) for node in nodes),
        value_form(argument="gpu", value=coerce.text(args, "gpu")),
        gpu_spelling(gpu=coerce.text(args, "gpu"), known=_models()),
        at_least(argument="gpus", value=coerce.whole(args, "gpus", 1), least=1),
        value_form(argument="place", value=place),
        place_name(place=place),
        *validate_object_labels(args),
    ]
    if isinstance(args.get("zone"), str):
        findings.append(one_zone(zone=coerce.text(args, "zone")))
    taints = args.get("taints")
    for taint in taints if isinstance(taints, list | tuple) else ():
        if isinstance(taint, Mapping):
            findings += [
                key_form(argument="taints.key", key=coerce.text(taint, "key")),
                value_form(argument="taints.value", value=coerce.text(taint, "value")),
                allowed_choice(argument="taints.effect", word=coerce.text(taint, "effect"), legal=TAINT_EFFECTS),
            ]
    return findings


def validate_onprem_cluster(
    pools: Mapping[str, Sequence[str]], kubeconfig_faults: Sequence[str], software: Sequence[str]
) -> list[Finding]:
    """Findings on an own cluster as a whole. pools: the nodes of each."""
    return [kubeconfig_whole(faults=kubeconfig_faults), plugin_once(software=software), *validate_pool_overlap(pools)]


def validate_pool_overlap(pools: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Findings on nodes that are in several pools. pools: the nodes of each."""
    owners: dict[str, list[str]] = {}
    for pool, nodes in pools.items():
        for node in dict.fromkeys(nodes):
            owners.setdefault(node, []).append(pool)
    return [node_once(node=node, pools=of) for node, of in owners.items()]


def _models() -> list[str]:
    """The GPU models of both clouds, as labels."""
    records = [*aws().types.values(), *azure().types.values()]
    return sorted({label_value(record.gpu_model) for record in records})


def _letters(model: str) -> str:
    return re.sub(r"[^a-z0-9]", "", model.casefold())
