"""Rules on what an environment installs on its cluster, when the configuration lists it."""

from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

BOTTLEROCKET = "bottlerocket"
"""An image that brings NVIDIA's device plugin along."""
_WITHOUT = {
    "device-plugin": "no pod gets a GPU on nodes of {}",
    "efa-plugin": "no pod gets an EFA interface on nodes of {}, and no worker is placed",
    "autoscaler": "nothing starts a node of {}, whose min is 0",
}


@rule("aws-software-needed", Severity.ERROR)
def software_needed(*, name: str, software: Sequence[str], pools: Sequence[str]) -> Outcome:
    """What pools need on their cluster is installed; pools: those that need `name`.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/device-management-nvidia.html and node-efa.html: nodes have
    GPUs and EFA interfaces only once the device plugin runs there; a managed node group does not scale by itself:
    https://docs.aws.amazon.com/eks/latest/userguide/autoscaling.html.
    """
    if not pools or name in software:
        return passed()
    problem = f"lacks {name}: {_WITHOUT[name].format(join_words(pools, 'and'))}"
    warm = ", or give the pools a min" if name == "autoscaler" else ""
    return failed("software", list(software), problem, f"add {name}, or leave software out{warm}")


def validate_software(software: Sequence[str], pools: Mapping[str, Mapping[str, object]]) -> list[Finding]:
    """Findings on the list `software` of an environment with its own cluster; none on an empty one.

    An empty list says that somebody else installs everything. pools: arguments of the cloud's pools and of own servers,
    by name. Reads image, network, nodes (own servers), min, schedule.
    """
    if not software:
        return []
    needed = {
        # The GPU operator has its own device plugin.
        "device-plugin": []
        if "gpu-operator" in software
        else [name for name, pool in pools.items() if pool.get("image") != BOTTLEROCKET],
        "efa-plugin": [name for name, pool in pools.items() if pool.get("network") == "efa"],
        "autoscaler": [name for name, pool in pools.items() if "nodes" not in pool and _never_warm(pool)],
    }
    return [software_needed(name=name, software=software, pools=names) for name, names in needed.items()]


def _never_warm(pool: Mapping[str, object]) -> bool:
    """Whether a pool has a min of 0 at all hours."""
    schedule = pool.get("schedule")
    entries = schedule if isinstance(schedule, list | tuple) else []
    sizes = [pool, *(entry for entry in entries if isinstance(entry, Mapping))]
    return all(coerce.whole(each, "min", 0) == 0 for each in sizes)
