"""Rules on the pools of an environment whose jobs wait in a queue."""

from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice, distinct
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("any-queue-pool-zone", Severity.ERROR)
def queue_pool_zone(*, zones: Sequence[str]) -> Outcome:
    """A pool of a queue lies in one zone.

    Source: gpufleet.pools.node_labels: nodes of a pool in several zones carry no gpufleet.dev/zone-id, by which Kueue
    keeps a job's workers together. https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/: a flavor's labels are put
    on the pods that it admits; a flavor for each zone would count the pool's GPUs once for each.
    """
    if len(zones) == 1:
        return passed()
    fix = "make a pool for each zone, or leave gpufleet:queue out"
    return failed("zones", list(zones), f"are {len(zones)} zones, where a queue counts GPUs of one", fix)


@rule("any-queue-pool-gpu", Severity.ERROR)
def queue_pool_gpu(*, types: Sequence[str], models: Sequence[str | None]) -> Outcome:
    """All types of a queue's pool have GPUs of one model, which the catalog knows: `models`, None for what it lacks.

    Source: gpufleet.pools.node_labels: other nodes carry no gpufleet.dev/gpu, which every flavor selects; and a quota
    is a number of GPUs, which is not known for a type outside of the catalog.
    """
    unknown = [kind for kind, model in zip(types, models, strict=True) if model is None]
    if unknown:
        wrong = f"are of unknown GPUs ({join_words(unknown, 'and')}), which a queue cannot count"
        return failed("types", list(types), wrong, "use types of the catalog, or leave gpufleet:queue out")
    different = list(dict.fromkeys(models))
    if len(different) == 1:
        return passed()
    names = join_words([str(each) for each in different], "and")
    fix = "make a pool for each GPU model, or leave gpufleet:queue out"
    return failed("types", list(types), f"have {names} GPUs, where a queue counts those of one model", fix)


def validate_queue_pool(args: Mapping[str, object], models: Mapping[str, str]) -> list[Finding]:
    """Findings on a cloud's pool. Reads types and zones. models: GPU model of each type that the catalog knows."""
    types = coerce.texts(args, "types")
    found = [queue_pool_zone(zones=coerce.texts(args, "zones"))]
    return [*found, queue_pool_gpu(types=types, models=[models.get(kind) for kind in types])] if types else found


def validate_queue_order(order: Sequence[str] | None, pools: Sequence[str]) -> list[Finding]:
    """Findings on the order in which a queue fills pools; None: it is left open."""
    if order is None:
        return []
    known = [allowed_choice(argument="queue.order", word=each, legal=pools) for each in order] if pools else []
    return [*known, distinct(argument="queue.order", values=order)]
