"""Pools of own servers, as jobs see them: what no catalog knows of their nodes is said here."""

from collections.abc import Mapping
from typing import Any

from gpufleet.kubernetes.node_place import PLACE
from gpufleet.node_labels import label_value
from settings import given


def told(environment: str, pools: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The pools by name. label: of their nodes, gpufleet.dev/pool."""

    def seen(facts: Mapping[str, Any]) -> dict[str, Any]:
        place = facts.get("place", PLACE)
        return {
            "gpu": label_value(facts["gpu"]),
            "gpus": facts["gpus"],
            "place": place,
            "zones": [facts.get("zone", place)],
            "max": len(facts["nodes"]),
        } | ({"taints": facts["taints"]} if facts.get("taints") else {})

    return {name: seen(given(pool)) | {"label": f"{environment}-{name}"} for name, pool in pools.items()}
