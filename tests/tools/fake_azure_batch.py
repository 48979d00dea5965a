"""An environment on Azure Batch in tests: what its stack tells, and its account, played on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from gpufleet.cli import stack_options
from gpufleet.played_endpoint import REHEARSAL
from gpufleet_rehearsal.azure_batch.server import batch_handler
from gpufleet_rehearsal.loopback import serve
from tests.tools.batch_account import FakeBatch

REGISTRY = "devimages.azurecr.io"
IMAGE = f"{REGISTRY}/training:base"
IDENTITY = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/dev/providers/nodes"
BLOBS = "https://devfiles.blob.core.windows.net"


def outputs() -> dict[str, Any]:
    """What a stack on Azure Batch tells; Pulumi has no whole numbers."""
    spot = {
        "pool_id": "spot-1",
        "types": ["Standard_NC64as_T4_v3"],
        "network": "plain",
        "min": 0.0,
        "max": 10.0,
        "capacity": "spot",
        "task_nodes": 4.0,
        "mounts": ["scripts", "result", "logs"],
    }
    fixed = {"pool_id": "fixed-1", "types": ["Standard_NC4as_T4_v3"], "max": 2.0, "scaling": "fixed", "mounts": []}
    batch = {
        "account_endpoint": "devbatch.eastus.batch.azure.com",
        "account_name": "devbatch",
        "subscription_id": "00000000-0000-0000-0000-000000000000",
        "resource_group": "dev",
        "region": "eastus",
        "pools": {"spot": spot, "fixed": fixed},
        "identity_id": IDENTITY,
        "storage": {
            "account_name": "devfiles",
            "blob_endpoint": f"{BLOBS}/",
            "file_endpoint": "https://devfiles.file.core.windows.net/",
            "containers": ["scripts", "result"],
            "shares": ["logs"],
        },
        "scripts": "scripts",
        "result": "result",
        "logs": "logs",
    }
    return {
        "jobs": {"on": "azure-batch", "project": "llm", "azure_batch": batch},
        "registry_urls": {"training": f"{REGISTRY}/training"},
    }


def play(monkeypatch: pytest.MonkeyPatch, variable: str, url: str) -> None:
    """Have a variable of a rehearsal name a played service, without a rehearsal's directory."""
    monkeypatch.setenv(REHEARSAL, "none")
    monkeypatch.setenv(variable, url)
    monkeypatch.setattr(stack_options, "_rehearsal", lambda program: None)


@contextmanager
def fake_batch() -> Iterator[FakeBatch]:
    """An account with the pools `spot-1` (Spot, scales itself) and `fixed-1` (dedicated, 0 nodes)."""
    batch = FakeBatch()
    formula = "$TargetDedicatedNodes = 0; $TargetLowPriorityNodes = 0; $NodeDeallocationOption = taskcompletion;"
    batch.add_pool("spot-1", enableAutoScale=True, autoScaleFormula=formula)
    batch.add_pool("fixed-1", enableInterNodeCommunication=False)
    with serve(batch_handler(lambda name: nullcontext(batch))) as batch.url:
        yield batch
