"""How long one training step takes on several nodes: computing, and the exchange of gradients between them.

    exchange(n) = 2 (n - 1) / n * bytes / bandwidth        ring all-reduce: what leaves, and enters, each node
    step(n)     = compute(n) + exchange(n) - overlap * min(compute(n), exchange(n))

bytes = parameters * bits / 8. Source of the first line: NVIDIA/nccl-tests doc/PERFORMANCE.md (all-reduce: the bus
carries 2 (n - 1) / n of the data); nodes count, not GPUs, as a node's own GPUs sum up before its network is used.
Latency, stragglers and the links inside a node are not in it, and neither is placement: the only measurement at hand
(measured.json) shows no gain of it.
"""

from dataclasses import dataclass

NETWORK_SHARE = 0.3
"""Share of a node's published bandwidth that the slow end of an estimate counts with. Our choice, and cautious: it is
what p3.2xlarge's fitted exchange is of its "up to 10 Gbps" if the SSD measured there has RESNET50 parameters: its base
network and input size are not recorded. No node with EFA or InfiniBand has been measured."""
RESNET50 = 25.6e6
"""Parameters of ResNet-50 (He et al., arXiv 1512.03385; 25.6 million in torchvision's and Chainer's)."""
BITS = {"float32": 32, "float16": 16, "bfloat16": 16}
BATCHES = ("per-gpu", "total")


@dataclass(frozen=True, slots=True)
class Workload:
    """What is trained, for estimates on several nodes.

    parameters: numbers in the gradient. step_seconds: of computing one step, on the GPUs asked for, without any
    exchange between nodes. dtype: of the gradient on the wire, a key of BITS. batch: what stays the same when nodes are
    added: the batch of each GPU (so that steps get fewer) or the total one (so that each gets shorter).
    """

    parameters: float
    step_seconds: float
    dtype: str = "float32"
    batch: str = "per-gpu"

    @property
    def gradient_bytes(self) -> float:
        """Bytes of one gradient on the wire."""
        return self.parameters * BITS[self.dtype] / 8


@dataclass(frozen=True, slots=True)
class Range:
    """A figure from the fastest to the slowest that the model allows."""

    fast: float
    slow: float


def exchange_seconds(nodes: int, gradient_bytes: float, gbps: float) -> float:
    """Seconds of one ring all-reduce over `nodes` nodes with `gbps` Gbit/s each; 0 for one node."""
    return 2 * (nodes - 1) / nodes * gradient_bytes * 8 / (gbps * 1e9)


def step_seconds(compute: float, exchange: float, overlap: float) -> float:
    """Seconds of one step. overlap: share of the shorter of both that runs beside the other one, 0 to 1."""
    return max(compute, exchange) + (1 - overlap) * min(compute, exchange)


def stretch(nodes: int, work: Workload, gbps: float | None, *, compute: float | None = None) -> Range | None:
    """How many times as long as without exchange a step takes; None where the bandwidth is not known.

    Fast: everything overlaps and the network gives its published bandwidth. Slow: nothing overlaps and it gives
    NETWORK_SHARE of it. compute: seconds of computing, default `work.step_seconds`.
    """
    if nodes == 1:
        return Range(1.0, 1.0)
    if gbps is None:
        return None
    alone = work.step_seconds if compute is None else compute
    fast = step_seconds(alone, exchange_seconds(nodes, work.gradient_bytes, gbps), 1)
    slow = step_seconds(alone, exchange_seconds(nodes, work.gradient_bytes, gbps * NETWORK_SHARE), 0)
    return Range(fast / alone, slow / alone)


def run_hours(hours: float, asked: int, nodes: int, work: Workload, gbps: float | None) -> Range | None:
    """Hours of a run on `nodes` nodes that takes `hours` on `asked` of them, were there no exchange between nodes.

    With the batch of a GPU fixed, n nodes need 1/n of the steps; with the total one fixed, 1/n of the computing a step.
    """
    share = asked / nodes
    compute = work.step_seconds * (share if work.batch == "total" else 1)
    found = stretch(nodes, work, gbps, compute=compute)
    return found and Range(hours * share * found.fast, hours * share * found.slow)


def scaling_rows(
    hours: float, nodes: int, most: int, work: Workload, gbps: float | None, usd_per_hour: float | None
) -> list[tuple[int, Range | None, Range | None]]:
    """Nodes, hours and USD of a run from `nodes` to `most` nodes, doubling; None where bandwidth or price is unknown.

    hours: on `nodes` nodes without exchange. usd_per_hour: of one node.
    """
    counts = [nodes]
    while counts[-1] * 2 <= most:
        counts.append(counts[-1] * 2)
    if counts[-1] < most:
        counts.append(most)
    rows = []
    for count in counts:
        found = run_hours(hours, nodes, count, work, gbps)
        usd = None
        if found is not None and usd_per_hour is not None:
            usd = Range(found.fast * count * usd_per_hour, found.slow * count * usd_per_hour)
        rows.append((count, found, usd))
    return rows
