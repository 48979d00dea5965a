"""The Node object of an own server: what its kubelet says of it, and no label but those that it was told to have.

Its GPUs are in the machine, and on the node once a device plugin runs there, as on any other node.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.pools.eks_pool import Taint
from tools.kubernetes.fake_node import MOST_PODS, Kept, fake_node

OWN = "own"
"""Pool of all own servers, by which they are found."""


def own_node(
    name: str,
    gpus: int,
    vcpus: int = 40,
    memory_gib: int = 256,
    taints: Sequence[Taint] = (),
    labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """labels: of its kubelet's --node-labels. vcpus, memory_gib: by default those of a server with four V100s, such as
    NVIDIA's DGX Station.

    Source: https://docs.nvidia.com/dgx/dgx-station-user-guide (20 cores with two threads each, 256 GB).
    """
    own = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }
    # Nothing is reserved by kubeadm but 100 MiB of eviction threshold; a little for the system is the safe side.
    kept = Kept(math.ceil(2.5 * vcpus), 1024 + 11 * MOST_PODS)
    return fake_node(
        name, OWN, {**own, **(labels or {})}, taints, vcpus=vcpus, memory_gib=memory_gib, kept=kept, gpus=gpus
    )
