"""What is read from an exporter's answer, and where its facts come from."""

import pytest

from gpufleet.node_health.gpu_faults import FAULT_TABLE, gpu_faults
from tests.unit.node_health.dcgm_metrics import dcgm_metrics, with_xid


def lines(text: str) -> list[str]:
    return [each.line for each in gpu_faults(text)]


@pytest.mark.parametrize("name", ["rtx3090", "a30_mig"])
def test_recorded_healthy_gpus_have_no_fault(name: str) -> None:
    assert dcgm_metrics(name).count("DCGM_FI_DEV_XID_ERRORS{") > 0
    assert lines(dcgm_metrics(name)) == []


def test_xid_of_bad_hardware_is_a_fault_and_that_of_an_application_is_none() -> None:
    assert lines(with_xid(31)) == []
    # With the text of a machine whose GPU had XID 62, which DCGM did not tell: NVIDIA/DCGM#235.
    assert lines(with_xid(45)) == []
    (fault,) = gpu_faults(with_xid(79))
    assert (fault.key, fault.line) == ("xid-79-gpu-0", "GPU 0: XID 79, the GPU has fallen off the bus")
    assert (fault.fix, fault.ends_work) == ("replace the node, or power-cycle the server", True)


def test_every_tolerated_xid_has_a_reason_and_is_no_fault() -> None:
    assert not {*FAULT_TABLE["xids"]} & {*FAULT_TABLE["tolerated_xids"]}
    for xid, row in FAULT_TABLE["tolerated_xids"].items():
        assert row["meaning"]
        assert lines(f'DCGM_FI_DEV_XID_ERRORS{{gpu="0"}} {xid}') == []


@pytest.mark.parametrize("table", ["xids", "tolerated_xids", "counters", "conditions"])
def test_every_fact_has_a_source(table: str) -> None:
    assert all(row["source"].startswith("https://") for row in FAULT_TABLE[table].values())


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ('DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu="3"} 0', []),
        ('DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu="3"} 2', ["GPU 3: double-bit ECC errors since the driver was loaded: 2"]),
        ('DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="12"} 1', ["GPU 12: remapping of a memory row has failed"]),
        # What DCGM writes where a GPU has no such counter.
        ('DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="0"} 9223372036854775794', []),
        ('DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="0"} NaN', []),
        ('DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="0"} much', []),
        ('DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="a b"} 1', []),
        ('DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{gpu="0"} 4', []),
        ('# DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="0"} 1', []),
    ],
)
def test_counters(metric: str, expected: list[str]) -> None:
    assert lines(metric) == expected


def test_instances_of_a_divided_gpu_are_one_gpu() -> None:
    text = dcgm_metrics("a30_mig").replace("} 0", "} 79")
    assert [each.key for each in gpu_faults(text)] == ["xid-79-gpu-0", "xid-79-gpu-1"]
