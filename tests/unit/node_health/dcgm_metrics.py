"""What real exporters answered, and the same with another value.

metrics/rtx3090.txt: github.com/NVIDIA/dcgm-exporter/pull/326. metrics/a30_mig.txt: three lines of
github.com/NVIDIA/dcgm-exporter/issues/317. The text of XID 45: of a machine in github.com/NVIDIA/DCGM/issues/235, the
one public answer with an XID that was found, without its GPU and its value.

No public answer of a GPU with an XID of bad hardware, or whose rows could not be remapped, was found in November 2026:
not in issues of NVIDIA/dcgm-exporter, DCGM, gpu-operator and NVSentinel, nor of aws/eks-node-monitoring-agent and
leptonai/gpud, nor in public files with DCGM_FI_DEV_XID_ERRORS{ or DCGM_FI_DEV_ROW_REMAP_FAILURE{, where values other
than 0 stand in examples and tests. So the bad ones are a recorded line with the value that
`dcgmi test --inject --gpuid 0 -f 230 -v 79` puts there
(docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-error-injection.html), and with the text that the exporter
4.5.3-4.8.2 adds to it (internal/pkg/collector/xid_errors.go).
"""

from pathlib import Path

METRICS = Path(__file__).with_name("metrics")
_TEXTS = {
    31: "GPU memory page fault",
    45: "Preemptive cleanup, due to previous errors -- Most likely to see when running multiple cuda",
    79: "GPU has fallen off the bus",
}


def dcgm_metrics(name: str) -> str:
    return (METRICS / f"{name}.txt").read_text()


def with_xid(xid: int) -> str:
    """The answer of the RTX 3090, with another XID."""
    text = dcgm_metrics("rtx3090")
    changed = text.replace(
        'err_code="0",err_msg="Unknown Error"} 0', f'err_code="{xid}",err_msg="{_TEXTS[xid]}"}} {xid}'
    )
    assert changed != text
    return changed
