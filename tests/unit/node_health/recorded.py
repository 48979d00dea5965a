"""What real exporters answered, and the same with another value.

metrics/rtx3090.txt: github.com/NVIDIA/dcgm-exporter/pull/326. metrics/a30_mig.txt: three lines of
github.com/NVIDIA/dcgm-exporter/issues/317. No public recording of a bad GPU was found, so the bad ones are a recorded
line with the value that `dcgmi test --inject --gpuid 0 -f 230 -v 79` puts there
(docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-error-injection.html), and with the text that the exporter
4.5.3-4.8.2 adds to it (internal/pkg/collector/xid_errors.go).
"""

from pathlib import Path

METRICS = Path(__file__).with_name("metrics")
_TEXTS = {31: "GPU memory page fault", 79: "GPU has fallen off the bus"}


def recorded(name: str) -> str:
    return (METRICS / f"{name}.txt").read_text()


def with_xid(xid: int) -> str:
    """The answer of the RTX 3090, with another XID."""
    text = recorded("rtx3090")
    changed = text.replace(
        'err_code="0",err_msg="Unknown Error"} 0', f'err_code="{xid}",err_msg="{_TEXTS[xid]}"}} {xid}'
    )
    assert changed != text
    return changed
