"""The network between the ranks, told when a job begins: what NCCL took, and how fast it is. Needs no PyTorch."""

import re
import tempfile
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from time import perf_counter

SIZE = 2**28
"""Bytes of the all-reduce that is timed: below 128 MiB one measures latency."""
_WARM_UP, _TIMED = 2, 4

_TAKEN = re.compile(r"NCCL INFO (?:Using network|Initialized NET plugin) (.+?)\s*$", re.MULTILINE)
_PROVIDER = re.compile(r"NCCL INFO NET/OFI Selected [Pp]rovider is ([^\s,]+)")
_NONE = re.compile(r"Failed to initialize any NET plugin|Error: network .* not found")
"""Source of all three: NVIDIA/nccl src/plugin/net.cc and, before 2.27, src/net.cc; aws/aws-ofi-nccl."""

NCCL_NAMES = {"AWS Libfabric": "efa", "IB": "infiniband"}
"""The Dockerfile's NETWORK by what NCCL calls the network."""


def keep_nccl_log(environment: MutableMapping[str, str]) -> Path | None:
    """Have NCCL write what it takes to a file, before its first use in this process.

    None where the user has set NCCL_DEBUG: the log goes where that says.
    """
    if "NCCL_DEBUG" in environment:
        return None
    file = Path(tempfile.mkdtemp(prefix="nccl-")) / "log"
    environment.update(NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT", NCCL_DEBUG_FILE=str(file))
    return file


def bus_bandwidth(all_reduce: Callable[[], object], ranks: int) -> float:
    """GB/s (10^9) of ``all_reduce``, which exchanges SIZE bytes and returns when that is done.

    Comparable with a link's rate whatever the number of ranks: each sends 2 (n - 1) / n times SIZE. Source:
    github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md.
    """
    for _ in range(_WARM_UP):
        all_reduce()
    since = perf_counter()
    for _ in range(_TIMED):
        all_reduce()
    return _TIMED * SIZE / (perf_counter() - since) * 2 * (ranks - 1) / ranks / 1e9


def network_line(log: str, bandwidth: float, environment: Mapping[str, str]) -> str:
    """The line. log: NCCL's. bandwidth: GB/s. GPUFLEET_NETWORK_GBPS: a node's line rate in Gbit/s, if it is known."""
    found, provider = _TAKEN.search(log), _PROVIDER.search(log)
    name = found[1] if found else "in NCCL's log"
    detail = "TCP" if name == "Socket" else provider[1] if provider else ""
    taken = f"{name} ({detail})" if detail else name
    rate = environment.get("GPUFLEET_NETWORK_GBPS")
    share = f", {8 * bandwidth / float(rate):.0%} of {rate} Gbit/s" if rate else ""
    return f"network: {taken}, bus bandwidth {bandwidth:.1f} GB/s{share}"


def missing_network(failure: str, environment: Mapping[str, str]) -> str | None:
    """What to tell of a failure of NCCL that is for want of the network NCCL_NET; None for any other."""
    if not _NONE.search(failure):
        return None
    wanted = environment.get("NCCL_NET", "")
    build = f" --build-arg NETWORK={NCCL_NAMES[wanted]}" if wanted in NCCL_NAMES else ""
    return (
        f"NCCL_NET={wanted}: NCCL cannot use this network; build the image for it with gpufleet images build{build}, "
        "and look at the nodes with gpufleet check"
    )
