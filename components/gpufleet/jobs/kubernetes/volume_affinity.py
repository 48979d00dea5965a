"""Whether a volume can be mounted in the zone in which a job's workers run."""

from collections.abc import Callable, Mapping
from typing import Any

from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError
from gpufleet.pools.node_labels import ZONE_ID
from gpufleet.rules.messages import join_words

_BY_ID = frozenset({ZONE_ID, "topology.k8s.aws/zone-id"})
_BY_NAME = frozenset(
    {"topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone", "topology.disk.csi.azure.com/zone"}
)


def volume_zones(volume: Mapping[str, Any], keys: frozenset[str]) -> set[str] | None:
    """Zones that a PersistentVolume's node affinity allows, under one of these labels; None: it does not say.

    Terms are alternatives; a term without any of the labels allows every zone.
    """
    affinity = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required") or {}
    terms = affinity.get("nodeSelectorTerms") or []
    allowed: set[str] = set()
    for term in terms:
        said = [each for each in term.get("matchExpressions") or [] if each.get("key") in keys]
        said = [each for each in said if each.get("operator") == "In"]
        if not said:
            return None
        allowed |= set.intersection(*(set(each.get("values") or []) for each in said))
    return allowed if terms else None


def volume_zone_error(
    api: KubernetesApi, claim: str, volume: Mapping[str, Any], worker: Mapping[str, Any], note: Callable[[str], None]
) -> str | None:
    """The fault of a claim whose volume is in another zone than the workers; None: it fits, or cannot be known."""
    zone = (worker.get("nodeSelector") or {}).get(ZONE_ID)
    ids, names = volume_zones(volume, _BY_ID), volume_zones(volume, _BY_NAME)
    if ids is not None and zone is not None and zone not in ids:
        return _fault(claim, sorted(ids), zone)
    if ids is not None or names is None:
        return None
    name = None if zone is None else _zone_name(api, zone)
    if name is None:
        wanted = f"zone {zone}" if zone else "a zone that the scheduler chooses"
        note(
            f"not verified: volume_claim={claim} can only be mounted in {join_words(sorted(names))}, and the workers "
            f"go to {wanted}, of which no node runs that would tell its name"
        )
        return None
    return None if name in names else _fault(claim, sorted(names), f"{name} ({zone})")


def _fault(claim: str, allowed: list[str], zone: str) -> str:
    return (
        f"volume_claim={claim}: its volume can be mounted in {join_words(allowed)} only, and the workers run in "
        f"{zone}; use a volume of that zone, or one that all zones can mount"
    )


def _zone_name(api: KubernetesApi, zone_id: str) -> str | None:
    """The account's name of a zone, which its nodes carry beside the id."""
    try:
        nodes = api.get("/api/v1/nodes", labelSelector=f"{ZONE_ID}={zone_id}", limit=1).get("items") or []
    except KubernetesApiError:
        return None
    names = [node["metadata"].get("labels", {}).get("topology.kubernetes.io/zone") for node in nodes]
    return names[0] if names else None
