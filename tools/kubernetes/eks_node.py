"""The Node object that EKS makes of an instance: its labels, and what its images reserve.

What the instance has besides its type is what the program sent: EFA interfaces by the launch template's network
interfaces, huge pages by its user data, labels and taints by the node group. Its image brings the driver along
(AL2023_*_NVIDIA, BOTTLEROCKET_*_NVIDIA), and only Bottlerocket's the device plugin, too:
https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-k8s-device-plugin.html. `k8s.amazonaws.com/accelerator` is no
label of EKS's: a node has it where its node group says so.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.aws.user_data import HUGE_PAGES
from gpufleet.catalog import AwsGpuType
from gpufleet.catalog.network_layers import LAYER_LABEL
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import GPU_TAINT, node_labels
from tools.kubernetes.cpu_type import cpu_type
from tools.kubernetes.fake_node import ARCHITECTURES, EFA, GPU, MOST_PODS, Kept, Machine, fake_node


def machine_of_pool(record: AwsGpuType, *, efa: bool) -> Machine:
    """What the machines of a gpufleet pool have, in a cluster whose device plugins run on every node at once."""
    fabric = record.efa_interfaces if efa else 0
    return Machine(efa_interfaces=fabric, huge_pages=HUGE_PAGES if fabric else 0, built_in=(GPU, EFA))


def gpu_node(
    name: str,
    record: AwsGpuType,
    *,
    zone_id: str,
    region: str,
    pool: str,
    machine: Machine,
    words: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Taint] | None = None,
    network_nodes: Sequence[str] = (),
) -> dict[str, Any]:
    """A node of a GPU pool.

    network_nodes: the instance's as DescribeInstanceTopology returns them, which AWS's cloud controller makes labels.

    words: the pool's capacity, placement and network, as its labels have them; default: the network of its machines.
    labels, taints: all of the node group's, which then replace what a pool of that name has by itself.
    """
    words = {"network": "efa" if machine.efa_interfaces else "plain", **(words or {})}
    own = node_labels(pool, [record.gpu_model], [zone_id], words) if labels is None else labels
    return fake_node(
        name,
        pool,
        {
            **_eks_labels(name, record.type, record.architecture, zone_id, region, pool),
            **{f"{LAYER_LABEL}{layer}": node for layer, node in enumerate(network_nodes, 1)},
            **own,
        },
        [GPU_TAINT] if taints is None else taints,
        vcpus=record.vcpus,
        memory_gib=record.memory_gib,
        kept=_kept(record.vcpus),
        gpus=record.gpus,
        machine=machine,
    )


def cpu_node(
    name: str,
    type_: str,
    *,
    zone_id: str,
    region: str,
    pool: str,
    labels: Mapping[str, str],
    taints: Sequence[Taint],
) -> dict[str, Any]:
    """A node without GPUs, for operators and launchers. labels, taints: the node group's."""
    vcpus, memory_gib = cpu_type(type_)
    own = {**_eks_labels(name, type_, "x86_64", zone_id, region, pool), **labels}
    return fake_node(name, pool, own, taints, vcpus=vcpus, memory_gib=memory_gib, kept=_kept(vcpus))


def zone_name(region: str, zone_id: str) -> str:
    """The name of a zone in the simulated account, where az1 is always a; a real account's differ."""
    return region + chr(ord("a") + int(zone_id.rpartition("az")[2]) - 1)


def _eks_labels(name: str, type_: str, architecture: str, zone_id: str, region: str, group: str) -> dict[str, str]:
    """What kubelet, EKS and AWS's cloud controller put on every node of a managed node group.

    https://kubernetes.io/docs/reference/labels-annotations-taints/ and, for the zone id,
    https://docs.aws.amazon.com/eks/latest/userguide/node-topology.html (looked at in 2026-11).
    """
    processor, zone = ARCHITECTURES[architecture], zone_name(region, zone_id)
    return {
        "beta.kubernetes.io/arch": processor,
        "beta.kubernetes.io/instance-type": type_,
        "beta.kubernetes.io/os": "linux",
        "eks.amazonaws.com/nodegroup": group,
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "k8s.io/cloud-provider-aws": "rehearsal",
        "kubernetes.io/arch": processor,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": type_,
        "topology.k8s.aws/zone-id": zone_id,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }


def _kept(vcpus: int) -> Kept:
    """CPU: 6 % of the first core, 1 % of the second, 0.5 % of the third and fourth, 0.25 % of the others. Memory: 255
    MiB and 11 MiB for each pod, and 100 MiB of eviction threshold.

    Source: https://github.com/awslabs/amazon-eks-ami, nodeadm, kubelet's reserved resources
    """
    parts = [60.0, 10.0, 5.0, 5.0][:vcpus]
    return Kept(math.ceil(sum(parts) + 2.5 * max(0, vcpus - 4)), 255 + 11 * MOST_PODS + 100)
