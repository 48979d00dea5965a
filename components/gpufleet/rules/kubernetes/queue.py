"""Rules on queues with quotas."""

from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice, at_least, distinct, not_empty
from gpufleet.rules.kubernetes.device_plugins import repository_form, validate_object_labels
from gpufleet.rules.kubernetes.mpi_placement import one_zone
from gpufleet.rules.kubernetes.name import name_form
from gpufleet.rules.kubernetes.queue_topology import validate_topology
from gpufleet.rules.kubernetes.version import version_pinned
from gpufleet.rules.labels import value_form
from gpufleet.rules.messages import use_one_of
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_MOST = 63
"""Flavors of one group, less the one for pods without GPUs."""
_NODE_MINUTES = 6


@rule("any-queue-flavor", Severity.ERROR)
def flavor_known(*, namespace: str, flavor: str, known: Sequence[str]) -> Outcome:
    """A quota is of a flavor that the queue has.

    Source: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/: a ClusterQueue with a flavor that does not exist is
    inactive (FlavorNotFound), and its jobs wait for ever.
    """
    if flavor in known:
        return passed()
    fix = use_one_of(flavor, known) if known else "name it in flavors"
    return failed(f"quotas.{namespace}", flavor, "is not one of the flavors", fix)


@rule("any-queue-flavor-known", Severity.ERROR)
def flavor_whole(*, flavor: str, given: Sequence[str]) -> Outcome:
    """A flavor has a GPU and a zone; `given` are the keys that it has.

    Source: https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/: without labels its pods may land on any node, of
    any zone.
    """
    missing = [word for word in ("gpu", "zone") if word not in given]
    if not missing:
        return passed()
    return failed(f"flavors.{flavor}", list(given), f"lacks {' and '.join(missing)}", "give gpu and zone as texts")


@rule("any-queue-flavor-name", Severity.ERROR)
def flavor_name(*, flavor: str) -> Outcome:
    """A GPU flavor is not called cpu, which is the flavor of pods without GPUs.

    Source: our own naming: each flavor is an object <queue>-<flavor>.
    """
    if flavor != "cpu":
        return passed()
    return failed("flavors", flavor, "is taken by the flavor for launchers", "use another name, such as the GPU's")


@rule("any-queue-flavors", Severity.ERROR)
def flavor_count(*, count: int) -> Outcome:
    """A queue has no more flavors than Kueue takes in one group.

    Source: MaxItems of flavors in apis/kueue/v1beta2/clusterqueue_types.go of github.com/kubernetes-sigs/kueue (64,
    with the one for launchers).
    """
    if count <= _MOST:
        return passed()
    return failed("flavors", count, f"is more than the {_MOST} that Kueue allows", "make a queue for each kind of GPU")


@rule("any-queue-overflow-timeout", Severity.WARNING)
def overflow_timeout(*, minutes: float) -> Outcome:
    """A pool is not given up before its nodes can be there.

    Source: github.com/kubernetes/autoscaler/issues/3464: 4 to 6 minutes until pods run on a new node of EKS.
    """
    if minutes >= _NODE_MINUTES:
        return passed()
    wrong = f"is less than the {_NODE_MINUTES} minutes that a new node can take"
    return failed("overflow.capacity_timeout_minutes", minutes, wrong, "give a pool's nodes the time to start")


def validate_queue(name: str, args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the queue ``name``. Reads flavors (gpu, zone, place, pool), quotas, topology_levels, overflow,
    version, image, labels."""
    flavors = coerce.mapping(args, "flavors")
    quotas = coerce.mapping(args, "quotas")
    findings = [
        name_form(argument="name", name=name),
        not_empty(argument="flavors", values=tuple(flavors), holds="flavor"),
        not_empty(argument="quotas", values=tuple(quotas), holds="namespace"),
        flavor_count(count=len(flavors)),
        *validate_object_labels(args),
        *validate_topology(args),
    ]
    for short, kind in flavors.items():
        words = kind if isinstance(kind, Mapping) else {}
        given = [word for word in ("gpu", "zone") if isinstance(words.get(word), str)]
        findings += [
            name_form(argument="flavors", name=short),
            flavor_name(flavor=short),
            flavor_whole(flavor=short, given=given),
        ]
        if "gpu" in given:
            findings.append(value_form(argument=f"flavors.{short}.gpu", value=words["gpu"]))
        if "zone" in given:
            findings.append(one_zone(zone=words["zone"]))
        for key in ("place", "pool"):
            if isinstance(words.get(key), str):
                findings.append(value_form(argument=f"flavors.{short}.{key}", value=words[key]))
    for namespace, quota in quotas.items():
        findings.append(name_form(argument="quotas", name=namespace))
        for short, number in quota.items() if isinstance(quota, Mapping) else ():
            findings.append(flavor_known(namespace=namespace, flavor=str(short), known=tuple(flavors)))
            gpus = coerce.whole({"gpus": number}, "gpus", -1)
            findings.append(at_least(argument=f"quotas.{namespace}.{short}", value=gpus, least=0))
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=coerce.text(args, "version")))
    if isinstance(args.get("image"), str):
        findings.append(repository_form(argument="image", repository=coerce.text(args, "image")))
    overflow = args.get("overflow")
    return findings + (_overflow(overflow, tuple(flavors)) if isinstance(overflow, Mapping) else [])


def _overflow(overflow: Mapping[str, object], flavors: Sequence[str]) -> list[Finding]:
    """Findings on how jobs move from pool to pool. Flavors are called like their pools."""
    minutes = overflow.get("capacity_timeout_minutes")
    findings = [overflow_timeout(minutes=minutes)] if isinstance(minutes, int | float) else []
    if "pools" in overflow:
        pools = coerce.texts(overflow, "pools")
        findings += [not_empty(argument="overflow.pools", values=pools, holds="pool")]
        findings += [allowed_choice(argument="overflow.pools", word=each, legal=flavors) for each in pools]
        findings += [distinct(argument="overflow.pools", values=pools)]
    if isinstance(overflow.get("image"), str):
        findings.append(repository_form(argument="overflow.image", repository=coerce.text(overflow, "image")))
    return findings
