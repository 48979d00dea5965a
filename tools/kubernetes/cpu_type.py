"""vCPUs and memory of instance types without GPUs, by their names: the catalog has types with GPUs only."""

import re
from typing import NamedTuple

_AWS = re.compile(r"([a-z]+)\d[a-z0-9-]*\.(\d*)(large|xlarge)")
_AZURE = re.compile(r"Standard_([DEF])(\d+)")
_MEMORY = {"c": 2, "m": 4, "r": 8, "t": 4, "F": 2, "D": 4, "E": 8}
"""GiB for each vCPU. Source: https://aws.amazon.com/ec2/instance-types/ and
https://learn.microsoft.com/azure/virtual-machines/sizes/overview (looked at in 2026-11)."""


class CpuType(NamedTuple):
    """Of one machine."""

    vcpus: int
    memory_gib: int


SMALLEST = CpuType(2, 4)
"""Of a type whose name tells nothing: the safe side, as a t3.medium."""


def cpu_type(name: str) -> CpuType:
    """For instance 2 and 8 GiB for m7i.large, 4 and 16 for Standard_D4s_v5."""
    if found := _AWS.fullmatch(name):
        vcpus = 2 if found[3] == "large" else 4 * int(found[2] or 1)
    elif found := _AZURE.match(name):
        vcpus = int(found[2])
    else:
        return SMALLEST
    per_vcpu = _MEMORY.get(found[1][0])
    return CpuType(vcpus, per_vcpu * vcpus) if per_vcpu else SMALLEST
