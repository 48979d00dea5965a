"""What the metrics of NVIDIA's exporter say is broken. Pure: text in, faults out.

gpu_faults.json says which errors mean that the hardware is bad, with the source of each. The last XID stays in the
metric until the exporter or the node starts again (NVIDIA/dcgm-exporter#500, NVIDIA/DCGM#277), and some are never
exported (NVIDIA/DCGM#235): so a fault is taken back by a reboot, and counts and conditions are judged beside it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

XID = "DCGM_FI_DEV_XID_ERRORS"
_SAMPLE = re.compile(r"([A-Za-z_:][A-Za-z0-9_:]{0,199})\{(.{0,4000})\}\s+(\S{1,40})")
_LABEL = re.compile(r'(\w{1,100})="((?:[^"\\]|\\.){0,400})"')
_GPU = re.compile(r"[0-9]{1,4}")
FAULT_TABLE: Mapping[str, Any] = json.loads(Path(__file__).with_name("gpu_faults.json").read_text(encoding="utf-8"))
"""gpu_faults.json."""


@dataclass(frozen=True)
class NodeFault:
    """One thing that is wrong with a node.

    key: the same at every look, for instance xid-79-gpu-3. line: for people. ends_work: whether what runs on the node's
    GPUs has to end first, as resetting a GPU needs.
    """

    key: str
    line: str
    fix: str
    ends_work: bool = False


def gpu_faults(text: str) -> list[NodeFault]:
    """Every fault of every GPU in an exporter's answer, by GPU; other lines are skipped."""
    found: dict[str, NodeFault] = {}
    for name, labels, value in _samples(text):
        gpu = labels.get("gpu", "")
        if not _GPU.fullmatch(gpu):
            continue
        fault = _xid(gpu, value) if name == XID else _counter(gpu, name, value)
        if fault:
            found.setdefault(fault.key, fault)
    return sorted(found.values(), key=lambda each: each.key)


def _xid(gpu: str, value: float) -> NodeFault | None:
    row = FAULT_TABLE["xids"].get(f"{value:.0f}")
    if row is None:
        return None
    return NodeFault(f"xid-{value:.0f}-gpu-{gpu}", f"GPU {gpu}: XID {value:.0f}, {row['meaning']}", row["fix"], True)


def _counter(gpu: str, name: str, value: float) -> NodeFault | None:
    row = FAULT_TABLE["counters"].get(name)
    # What DCGM does not know is a number near 2^31 or 2^63 (DCGM_INT32_BLANK, DCGM_INT64_BLANK of dcgm_structs.h).
    if row is None or not 0 < value < 2_000_000_000:
        return None
    words = f"GPU {gpu}: {row['meaning']}"
    if row["counts"]:
        words += f": {value:.0f}"
    return NodeFault(f"{row['key']}-gpu-{gpu}", words, row["fix"], True)


def _samples(text: str) -> Iterator[tuple[str, Mapping[str, str], float]]:
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match is None or (match[1] != XID and match[1] not in FAULT_TABLE["counters"]):
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        if value == value and abs(value) != float("inf"):
            yield match[1], dict(_LABEL.findall(match[2])), value
