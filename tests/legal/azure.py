"""Legal configurations of environments on Azure: an AKS cluster, Azure Batch, or both."""

from typing import Any

from hypothesis import strategies as st

from tests.legal.documented import (
    LABEL_VALUES,
    LOCATIONS,
    PATHS,
    TAINTS,
    budgets,
    counts,
    names,
    ownership,
    some,
    types,
    versions,
)

GROUPS = st.uuids().map(str)
POOL_NAMES = st.from_regex(r"[a-z][a-z0-9]{0,11}", fullmatch=True)
"""learn.microsoft.com/azure/aks/create-node-pools#limitations"""
CONTAINERS = st.lists(names(3, 20), max_size=2, unique=True).map(lambda more: sorted({"scripts", "result", *more}))
"""Jobs on Azure Batch keep their programs in the first two.
learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata"""
ACCOUNTS = st.from_regex(r"[a-z0-9]{3,24}", fullmatch=True)
FILES = some(
    containers=CONTAINERS,
    account_name=ACCOUNTS,
    redundancy=st.sampled_from(["Standard_LRS", "Standard_ZRS", "Standard_GRS", "Standard_RAGRS"]),
    access=st.sampled_from(["service-endpoint", "private-endpoint"]),
    allowed_cidrs=st.lists(st.sampled_from(["203.0.113.0/24", "198.51.100.7"]), unique=True),
    retention_days=st.integers(0, 365),
    hierarchical=st.booleans(),
)
REGISTRY = st.one_of(
    some(
        sku=st.sampled_from(["Basic", "Standard", "Premium"]),
        registry_name=st.from_regex(r"[a-zA-Z0-9]{5,50}", fullmatch=True),
        repositories=st.lists(PATHS, min_size=1, max_size=3, unique=True),
        pull_through=st.just({"quay": "quay.io", "mcr": "mcr.microsoft.com"}),
    ),
    st.just({"sku": "Premium", "public": False}),
)
"""learn.microsoft.com/azure/container-registry/container-registry-skus and artifact-cache-overview"""
SIZES = st.sampled_from([each["type"] for each in types("azure")])


CUDA_SIZES = SIZES.filter(lambda size: not size.startswith("Standard_NV"))
"""Those of NV have another driver than the images of Azure Batch: learn.microsoft.com/azure/virtual-machines/linux/
n-series-driver-setup."""


@st.composite
def agent_pools(draw: st.DrawFn) -> dict[str, Any]:
    """A pool of AKS. Zones are the subscription's, of which every location here has three."""
    pool: dict[str, Any] = {"types": [draw(SIZES)], **draw(counts(40)), **draw(some(disk_gib=st.integers(64, 2_048)))}
    capacity = draw(st.sampled_from(["on-demand", "spot"]))
    if capacity == "spot":
        return {**pool, "capacity": "spot", **draw(some(spot_max_price=st.sampled_from([-1, 0.5, 30.0])))}
    # A proximity placement group and its pool lie in one zone: learn.microsoft.com/azure/aks/reduce-latency-ppg
    placed = draw(st.booleans())
    pool |= {"placement": "create"} if placed else {}
    return pool | draw(
        some(
            labels=st.dictionaries(names(2, 20), LABEL_VALUES, max_size=2),
            taints=st.lists(TAINTS, max_size=2, unique_by=lambda taint: taint["key"]),
            driver=st.sampled_from(["install", "none"]),
            scale_down=st.sampled_from(["delete", "deallocate"]),
        )
    )


@st.composite
def batch_pools(draw: st.DrawFn) -> dict[str, Any]:
    """A pool of Azure Batch; with communication between nodes at most 100 (batch-quota-limit)."""
    pool: dict[str, Any] = {"types": [draw(CUDA_SIZES)], **draw(counts(100))}
    pool |= draw(
        some(
            capacity=st.sampled_from(["on-demand", "spot"]),
            task_nodes=st.integers(1, pool["max"]),
            idle_minutes=st.integers(5, 60),
            disk_gib=st.integers(128, 2_048),
        )
    )
    return pool


@st.composite
def environments(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Name and configuration of an environment with a cluster, Batch, or both."""
    parts: dict[str, Any] = draw(some(files=FILES, registry=REGISTRY, budget=budgets(5, 50), erase=st.booleans()))
    parts |= draw(some(access_logs=st.booleans(), network=some(cidr=st.sampled_from(["10.60.0.0/16", "10.8.0.0/14"]))))
    kind = draw(st.sampled_from(["cluster", "batch", "both"]))
    if kind != "batch":
        ranges = st.lists(st.sampled_from(["203.0.113.0/24", "198.51.100.7/32"]), min_size=1, unique=True)
        more = some(
            authorized_ranges=ranges,
            tier=st.sampled_from(["Free", "Standard"]),
            idle_minutes=st.integers(5, 60),
            upgrade_channel=st.sampled_from(["none", "patch"]),
            service_cidr=st.just("10.200.0.0/16"),
        )
        version = draw(st.sampled_from(versions("azure")))
        parts["cluster"] = {"version": version, "admins": {"team": draw(GROUPS)}, **draw(more)}
        parts["pools"] = draw(st.dictionaries(POOL_NAMES, agent_pools(), max_size=3))
        parts |= draw(some(share=some(gib=st.integers(100, 102_400), redundancy=st.just("Premium_ZRS"))))
    if kind != "cluster":
        # Resources are named after their pool, so a name is used once in an environment.
        free = names(1, 10).filter(lambda name: name not in parts.get("pools", {}))
        parts["batch"] = {"pools": draw(st.dictionaries(free, batch_pools(), min_size=1, max_size=3))}
    where = {"azure-native:location": draw(st.sampled_from(LOCATIONS)), "gpufleet:cloud": "azure"}
    config = {**where, **draw(ownership()), **{f"gpufleet:{key}": value for key, value in parts.items()}}
    return draw(names(2, 24)), config
