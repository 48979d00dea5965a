"""A GPU pool for its jobs: from a stack's output, with the catalog's facts about its types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.catalog import GpuType, gpu_types
from gpufleet.catalog.interconnect import line_rate
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import CLOUD, label_value


@dataclass(frozen=True)
class PoolInfo:
    """A pool that jobs run on. records: of its types in the catalog; types that it does not know are left out.

    label: of its nodes, gpufleet.dev/pool. taints: its own.
    """

    name: str
    types: Sequence[str]
    zones: Sequence[str]
    network: str
    max: int | None
    records: Sequence[GpuType]
    label: str
    taints: Sequence[Taint] = ()
    place: str = CLOUD
    onprem_gpu: str | None = None
    """GPU model of on-prem servers, which have no type in a catalog."""
    onprem_gpus: int | None = None
    """GPUs of each on-prem server."""
    pod_network: str | None = None
    """Network of the pods on its nodes, in a cluster with several; None: it has one."""
    reaches_files: bool = True
    """Whether its nodes reach the shared volume's files."""
    image: str | None = None
    """Image of its nodes; None: the service's own."""
    capacity: str | None = None
    """How its nodes are bought, for instance spot; None: on demand."""

    @property
    def gpu(self) -> str | None:
        """The GPU model of all of its nodes, as their label has it; None if they differ or are unknown."""
        models = {record.gpu_model for record in self.records}
        alike = len(models) == 1 and len(self.records) == len(self.types)
        return self.onprem_gpu or (label_value(models.pop()) if alike else None)

    @property
    def gpu_models(self) -> list[tuple[str, str]]:
        """Each type that the catalog knows, and its GPU model."""
        own = [(self.name, self.onprem_gpu)] if self.onprem_gpu else []
        return own or [(record.type, record.gpu_model) for record in self.records]

    @property
    def gpus(self) -> int | None:
        """GPUs that every node of the pool has; None where the catalog does not know all types."""
        if self.onprem_gpus is not None:
            return self.onprem_gpus
        whole = self.records and len(self.records) == len(self.types)
        return min(record.gpus for record in self.records) if whole else None

    @property
    def network_gbps(self) -> float | None:
        """Gbit/s that every node reaches on the pool's network, its line rate; None where it is not known."""
        speeds = [line_rate(record, self.network) for record in self.records]
        known = [speed for speed in speeds if speed is not None]
        return min(known) if known and len(known) == len(self.types) else None

    @property
    def efa(self) -> int:
        """EFA interfaces of every node; 0 where the pool does not use them."""
        if self.network != "efa" or not self.records:
            return 0
        return min(int(getattr(record, "efa_interfaces", 0)) for record in self.records)


def pool_info(name: str, output: Mapping[str, Any]) -> PoolInfo:
    """A pool of a stack's output `jobs`, as `parse_jobs_output` gives it."""
    types = list(output.get("types") or [])
    known = gpu_types()
    return PoolInfo(
        name=name,
        types=types,
        zones=list(output.get("zones") or []),
        network=str(output.get("network") or "plain"),
        max=output.get("max"),
        records=[known[each] for each in types if each in known],
        label=str(output.get("label") or name),
        taints=list(output.get("taints") or []),
        place=str(output.get("place") or CLOUD),
        onprem_gpu=str(output["gpu"]) if output.get("gpu") else None,
        onprem_gpus=int(output["gpus"]) if output.get("gpus") else None,
        pod_network=str(output["pod_network"]) if output.get("pod_network") else None,
        reaches_files=bool(output.get("reaches_files", True)),
        image=str(output["image"]) if output.get("image") else None,
        capacity=str(output["capacity"]) if output.get("capacity") else None,
    )
