"""What nccl-tests print, in the formats that people have pasted; the figures are ours.

Formats: NVIDIA/nccl#527 and jacobkahn's gists of p3dn (no root, errors), NVIDIA/nccl-tests#131 (root, #wrong, bounds),
bottlerocket-os/bottlerocket-kernel-kit#313 and aws/aws-k8s-tester#503 (mpirun's tags, N/A), NVIDIA/nccl-tests#249
(headings without #).
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpufleet.jobs.kubernetes.nccl_parser import NcclRow, parse_nccl_output

LOGS = yaml.safe_load(Path(__file__).with_name("nccl_logs.yaml").read_text())

OLD = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 100 validation: 1
#
# Using devices
#   Rank  0 Pid   4711 on ip-10-0-0-1 device  0 [0x00] Tesla V100-SXM2-32GB
#   Rank  1 Pid   4712 on ip-10-0-0-2 device  0 [0x00] Tesla V100-SXM2-32GB
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2   float     sum    161.1    0.00    0.00  1e-07    162.2    0.00    0.00  1e-07
  1073741824     268435456   float     sum    90123   11.91   11.91  4e-07    91234   11.77   11.77  4e-07
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 3.2101
"""
NEW = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1
#  Rank  0 Group  0 Pid   1001 on train-worker-0 device  0 [0x10] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid   1002 on train-worker-0 device  1 [0x20] NVIDIA A100-SXM4-40GB
#  Rank  2 Group  0 Pid    998 on train-worker-1 device  0 [0x10] NVIDIA A100-SXM4-40GB
train-worker-0:1001:1001 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    17.08    0.00    0.00      0    16.76    0.00    0.00      0
  1073741824     268435456     float     sum      -1    24321   44.15   82.78      0    24300   44.19   82.85      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 21.5003
# Collective test concluded: all_reduce_perf
"""
TAGGED = "".join(f"[1,0]<stdout>:{line}\n" for line in NEW.replace("82.85      0", "82.85    N/A").splitlines())
BARE = NEW.replace("#  ", "  ").replace("# ", " ")


@pytest.mark.parametrize(
    ("text", "hosts", "largest", "average"),
    [
        (OLD, {"ip-10-0-0-1": {0}, "ip-10-0-0-2": {1}}, NcclRow(2**30, 11.91, 11.77, None), 3.2101),
        (NEW, {"train-worker-0": {0, 1}, "train-worker-1": {2}}, NcclRow(2**30, 82.78, 82.85, 0), 21.5003),
        (TAGGED, {"train-worker-0": {0, 1}, "train-worker-1": {2}}, NcclRow(2**30, 82.78, 82.85, 0), 21.5003),
        (BARE, {"train-worker-0": {0, 1}, "train-worker-1": {2}}, NcclRow(2**30, 82.78, 82.85, 0), 21.5003),
    ],
    ids=["old", "new", "tagged", "bare"],
)
def test_every_format_is_read(text: str, hosts: dict, largest: NcclRow, average: float) -> None:
    run = parse_nccl_output(text.splitlines())
    assert len(run.rows) == 2
    assert (run.hosts, run.largest, run.average, run.out_of_bounds, run.wrong) == (hosts, largest, average, 0, 0)


def test_wrong_values_are_counted() -> None:
    text = NEW.replace("82.78      0", "82.78     50").replace("0 OK", "50 FAILED")
    run = parse_nccl_output(text.splitlines())
    assert (run.out_of_bounds, run.wrong) == (50, 50)


@pytest.mark.parametrize("text", ["", "hello\n", OLD[: OLD.index("           8")], "  8  2  float sum -1 17.08 0.00\n"])
def test_what_is_no_result_gives_none(text: str) -> None:
    assert parse_nccl_output(text.splitlines()).largest is None


@pytest.mark.parametrize("log", LOGS, ids=[log["source"] for log in LOGS])
def test_network_is_the_one_that_nccl_took_in_logs_that_people_pasted(log: dict[str, Any]) -> None:
    run = parse_nccl_output(log["lines"])
    assert (run.network, run.provider, run.no_network) == (log["network"], log["provider"], False)


@pytest.mark.parametrize(
    "line",
    [
        "c-worker-0:21:21 [0] net.cc:330 NCCL WARN Failed to initialize any NET plugin",
        "c-worker-0:21:21 [0] net.cc:74 NCCL WARN Error: network AWS Libfabric not found.",
    ],
)
def test_network_that_nccl_does_not_have_is_told(line: str) -> None:
    """NVIDIA/nccl src/plugin/net.cc; before 2.27 src/net.cc."""
    run = parse_nccl_output([line])
    assert (run.network, run.provider, run.no_network) == (None, None, True)
