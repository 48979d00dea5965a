"""examples/train/network.py: which network NCCL took, from logs that people pasted, and what a line says of it."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
LOGS = yaml.safe_load((ROOT / "tests" / "unit" / "jobs" / "kubernetes" / "nccl_logs.yaml").read_text())
P4D = {"GPUFLEET_NETWORK_GBPS": "400"}


@pytest.fixture(scope="module")
def network() -> ModuleType:
    spec = importlib.util.spec_from_file_location("train_network", ROOT / "examples" / "train" / "network.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("log", LOGS, ids=[log["source"] for log in LOGS])
def test_line_names_the_network_that_nccl_took(network: ModuleType, log: dict[str, Any]) -> None:
    line = network.network_line("\n".join(log["lines"]) + "\n", 31.2, P4D)
    detail = "TCP" if log["network"] == "Socket" else log["provider"]
    name = (log["network"] or "in NCCL's log") + (f" ({detail})" if detail else "")
    assert line == f"network: {name}, bus bandwidth 31.2 GB/s, 62% of 400 Gbit/s"


def test_line_without_a_known_line_rate_has_no_share(network: ModuleType) -> None:
    line = network.network_line("c:1:1 [0] NCCL INFO Using network IB\n", 31.25, {})
    assert line == "network: IB, bus bandwidth 31.2 GB/s"


def test_bandwidth_is_that_of_nccl_tests(network: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four all-reduces of 256 MiB in 0.1 s are 10.7 GB/s; on 16 ranks each link carries 2 * 15 / 16 of it."""
    times = iter([5.0, 5.1])
    monkeypatch.setattr(network, "perf_counter", lambda: next(times))
    calls: list[None] = []
    assert network.bus_bandwidth(lambda: calls.append(None), 16) == pytest.approx(10.737 * 2 * 15 / 16, rel=1e-3)
    assert len(calls) == 6, "two before the clock starts"


def test_nccl_writes_its_log_to_a_file_unless_the_user_has_said_where(network: ModuleType) -> None:
    environment: dict[str, str] = {}
    file = network.keep_nccl_log(environment)
    assert environment == {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT", "NCCL_DEBUG_FILE": str(file)}
    assert file.parent.is_dir()
    file.parent.rmdir()
    users = {"NCCL_DEBUG": "WARN"}
    assert network.keep_nccl_log(users) is None
    assert users == {"NCCL_DEBUG": "WARN"}


@pytest.mark.parametrize(
    ("wanted", "option"),
    [
        ("AWS Libfabric", " --build-arg NETWORK=efa"),
        ("IB", " --build-arg NETWORK=infiniband"),
        ("Other", ""),
    ],
)
def test_image_without_the_network_is_told_as_that(network: ModuleType, wanted: str, option: str) -> None:
    failure = (
        "NCCL error in: ProcessGroupNCCL.cpp:3690, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version "
        "2.27.5\nncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
        "Last error:\nFailed to initialize any NET plugin"
    )
    assert network.missing_network(failure, {"NCCL_NET": wanted}) == (
        f"NCCL_NET={wanted}: NCCL cannot use this network; build the image for it with gpufleet images build{option}, "
        "and look at the nodes with gpufleet check"
    )


def test_any_other_failure_is_not_for_want_of_a_network(network: ModuleType) -> None:
    assert network.missing_network("NCCL error: remote process exited or there was a network error", {}) is None
