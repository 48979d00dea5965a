"""What a researcher chooses from when a notebook starts: GPUs by type, place and number, each with its price.

Pure: pools in, profiles of KubeSpawner out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from gpufleet.kubernetes.plugin_daemonset import tolerations
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import CLOUD

GPU = "nvidia.com/gpu"
_SLUG = str.maketrans({".": "-", "_": "-"})


class NotebookPool(TypedDict):
    """GPU nodes that notebooks may run on."""

    gpu: str
    """GPU model, as the nodes' label gpufleet.dev/gpu says it, for instance A10G."""
    gpus: int
    """GPUs of each node."""
    place: NotRequired[str]
    """Place, as the nodes' label gpufleet.dev/place says it: cloud, or that of on-prem servers. Default cloud."""
    usd_per_hour: NotRequired[float]
    """Price of a whole node for one hour, in USD, on demand. Default: not known."""
    taints: NotRequired[Sequence[Taint]]
    """Taints of the nodes besides nvidia.com/gpu, which is tolerated always. Default: none."""


class NotebookLimits(TypedDict):
    """What a notebook may use at the most. It is guaranteed a quarter of the vCPUs and a third of the memory."""

    cpus: NotRequired[float]
    """vCPUs of a notebook without GPU. Default 2."""
    memory_gib: NotRequired[float]
    """Memory of it in GiB. Default 6."""
    cpus_per_gpu: NotRequired[float]
    """vCPUs for each GPU. Default 4."""
    memory_gib_per_gpu: NotRequired[float]
    """Memory for each GPU in GiB. Default 12."""


def plan_profiles(
    pools: Mapping[str, NotebookPool], images: Sequence[str], limits: NotebookLimits
) -> list[dict[str, Any]]:
    """The profiles, as `KubeSpawner.profile_list` takes them: first the one without GPU, then by place, model and
    number of GPUs.

    Pools of one GPU model in one place are one choice, whose price is the dearest pool's that has so many GPUs: the
    scheduler takes a node of any of them. `pools` and `images` have passed the rules; the first image is the default.
    """
    cpus, memory = float(limits.get("cpus", 2)), float(limits.get("memory_gib", 6))
    without = {
        "display_name": "No GPU",
        "slug": "no-gpu",
        "description": "For editing, and for jobs that run elsewhere: gpufleet.jobs.submit.",
        "default": True,
        "kubespawner_override": _resources(cpus, memory),
    }
    kinds = sorted({(pool.get("place", CLOUD), pool["gpu"]) for pool in pools.values()}, key=_own_first)
    profiles = [without]
    for place, gpu in kinds:
        alike = [pool for pool in pools.values() if (pool.get("place", CLOUD), pool["gpu"]) == (place, gpu)]
        most = max(int(pool["gpus"]) for pool in alike)
        for number in _numbers(most):
            profiles.append(_with_gpus(number, gpu, place, [pool for pool in alike if pool["gpus"] >= number], limits))
    return [_with_images(profile, images) for profile in profiles]


def share_price(pools: Sequence[NotebookPool], gpus: int) -> float | None:
    """USD for one hour of so many GPUs of a node: their part of its price. The dearest of the pools; None where a
    price is not known.

    The rest of the node costs its part all the same as long as nobody else uses it: nodes are billed whole.
    """
    prices = [pool["usd_per_hour"] * gpus / int(pool["gpus"]) if "usd_per_hour" in pool else None for pool in pools]
    known = [price for price in prices if price is not None]
    return max(known) if known and len(known) == len(prices) else None


def _with_gpus(
    number: int, gpu: str, place: str, pools: Sequence[NotebookPool], limits: NotebookLimits
) -> dict[str, Any]:
    price = share_price(pools, number)
    cost = "price unknown" if price is None else f"{price:.2f} USD/h"
    taints = [taint for pool in pools for taint in pool.get("taints", ())]
    taints = [taint for index, taint in enumerate(taints) if taint not in taints[:index]]
    cpus, memory = number * float(limits.get("cpus_per_gpu", 4)), number * float(limits.get("memory_gib_per_gpu", 12))
    return {
        "display_name": f"{number} x {gpu}, {place}, {cost}",
        "slug": f"{number}-{gpu}-{place}".lower().translate(_SLUG),
        "description": _description(number, pools, price),
        "kubespawner_override": {
            **_resources(cpus, memory),
            "node_selector": {"gpufleet.dev/gpu": gpu, "gpufleet.dev/place": place},
            "tolerations": tolerations(taints),
            "extra_resource_limits": {GPU: str(number)},
            "extra_resource_guarantees": {GPU: str(number)},
        },
    }


def _description(number: int, pools: Sequence[NotebookPool], price: float | None) -> str:
    sizes = sorted({int(pool["gpus"]) for pool in pools})
    if number == sizes[-1]:
        return "A whole node."
    node = f"A part of a node with {' or '.join(map(str, sizes))} GPUs"
    return f"{node}." if price is None else f"{node}, which is billed whole as long as it runs."


def _numbers(most: int) -> list[int]:
    """1, 2, 4, ... and all GPUs of a node."""
    powers = [2**power for power in range(most.bit_length())]
    return sorted({*(number for number in powers if number < most), most})


def _resources(cpus: float, memory_gib: float) -> dict[str, Any]:
    return {
        "cpu_guarantee": cpus / 4,
        "cpu_limit": cpus,
        "mem_guarantee": f"{round(memory_gib * 1024 / 3)}M",
        "mem_limit": f"{round(memory_gib * 1024)}M",
    }


def _with_images(profile: dict[str, Any], images: Sequence[str]) -> dict[str, Any]:
    """The same, with a choice of images where there are several."""
    if len(images) < 2:
        return profile
    choices = {
        f"image-{number}": {
            "display_name": image,
            "default": number == 1,
            "kubespawner_override": {"image": image},
        }
        for number, image in enumerate(images, 1)
    }
    return {**profile, "profile_options": {"image": {"display_name": "Image", "choices": choices}}}


def _own_first(kind: tuple[str, str]) -> tuple[bool, str, str]:
    """On-prem servers before the cloud's: they cost no more when they are used."""
    place, gpu = kind
    return (place == CLOUD, place, gpu)
