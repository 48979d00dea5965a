"""Reads what nccl-tests print.

Formats seen in real outputs: without the column `root` and with `error` (NVIDIA/nccl#527, 2021), with `root` and
`#wrong` (NVIDIA/nccl-tests#131), N/A where nothing was checked (bottlerocket-os/bottlerocket-kernel-kit#313), lines
with mpirun's `[1,0]<stdout>:` in front (aws/aws-k8s-tester#503), headings without `#` (NVIDIA/nccl-tests#249), and
NCCL's own log in between.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_TAGGED = re.compile(r"^\[\d+,\d+\]<std(?:out|err)>:\s?")
_MEASURED = r"(?P<{0}time>[\d.]+)\s+(?P<{0}algbw>[\d.]+)\s+(?P<{0}busbw>[\d.]+)\s+(?P<{0}wrong>\S+)"
_ROW = re.compile(
    r"\s*(?P<size>\d+)\s+(?P<count>\d+)\s+(?P<type>[a-z]\w*)\s+(?P<redop>[a-z]\w*)\s+(?:(?P<root>-?\d+)\s+)?"
    + _MEASURED.format("out_")
    + r"\s+"
    + _MEASURED.format("in_")
    + r"\s*$"
)
_RANK = re.compile(r"#?\s*Rank\s+(\d+)\s.*?Pid\s+\d+\s+on\s+(\S+)\s+device\s+\d+")
_BOUNDS = re.compile(r"#?\s*Out of bounds values\s*:\s*(\d+)\s+(OK|FAILED)")
_NETWORK = re.compile(r"NCCL INFO (?:Using network|Initialized NET plugin) (.+?)\s*$")
_PROVIDER = re.compile(r"NCCL INFO NET/OFI Selected [Pp]rovider is ([^\s,]+)")
_NO_NETWORK = re.compile(r"Failed to initialize any NET plugin|Error: network .* not found")
_AVERAGE = re.compile(r"#?\s*Avg bus bandwidth\s*:\s*([\d.]+)")


@dataclass(frozen=True)
class NcclRow:
    """One size. size: bytes; busbw: GB/s (10^9), of the run out of place and in place. wrong: values that were not
    right; None where nothing was checked or the old column of errors stands there."""

    size: int
    busbw: float
    busbw_in_place: float
    wrong: int | None


@dataclass
class NcclRun:
    """One run of a test. hosts: ranks by host. average: over all sizes, in GB/s. out_of_bounds: None if not told.

    network: what NCCL trains over, as NCCL names it; None if not told, which takes NCCL_DEBUG=INFO. provider: what
    aws-ofi-nccl took of libfabric; None where NCCL did not ask it. no_network: NCCL found none of the name NCCL_NET.
    """

    rows: list[NcclRow] = field(default_factory=list)
    hosts: dict[str, set[int]] = field(default_factory=dict)
    average: float | None = None
    out_of_bounds: int | None = None
    network: str | None = None
    provider: str | None = None
    no_network: bool = False

    @property
    def largest(self) -> NcclRow | None:
        """The biggest size: where bandwidth counts and not latency."""
        return max(self.rows, key=lambda row: row.size, default=None)

    @property
    def wrong(self) -> int:
        """Values that were not right, of all in the log."""
        return max(self.out_of_bounds or 0, sum(row.wrong or 0 for row in self.rows))


def parse_nccl_output(lines: Iterable[str]) -> NcclRun:
    """Everything that is of nccl-tests in a log; other lines are passed over."""
    run = NcclRun()
    for raw in lines:
        line = _TAGGED.sub("", raw)
        if found := _ROW.match(line):
            wrong = found["out_wrong"], found["in_wrong"]
            counted = found["root"] is not None and all(each.isdigit() or each == "N/A" for each in wrong)
            known = [int(each) for each in wrong if each.isdigit()] if counted else []
            busbw = float(found["out_busbw"]), float(found["in_busbw"])
            run.rows.append(NcclRow(int(found["size"]), *busbw, sum(known) if known else None))
        elif found := _RANK.match(line):
            run.hosts.setdefault(found[2], set()).add(int(found[1]))
        elif found := _BOUNDS.match(line):
            run.out_of_bounds = int(found[1])
        elif found := _AVERAGE.match(line):
            run.average = float(found[1])
        elif found := _NETWORK.search(line):
            run.network = found[1]
        elif found := _PROVIDER.search(line):
            run.provider = found[1]
        elif _NO_NETWORK.search(line):
            run.no_network = True
    return run
