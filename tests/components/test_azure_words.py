"""The words that type checkers know are those that the rules take when a program runs."""

from typing import Any, get_args

import pytest

from gpufleet.azure import batch_mounts, cluster, network, nfs_share, registry, shared_files, site_link
from gpufleet.pools import aks_pool, azure_batch_pool
from gpufleet.rules import placement
from gpufleet.rules.azure import batch_mounts as mount_rules
from gpufleet.rules.azure import batch_pool as batch_rules
from gpufleet.rules.azure import cluster as cluster_rules
from gpufleet.rules.azure import gpu_node_group, infiniband, pool_arguments, storage_files
from gpufleet.rules.azure import network as network_rules
from gpufleet.rules.azure import nfs_share as share_rules
from gpufleet.rules.azure import registry as registry_rules
from gpufleet.rules.azure import site_link as link_rules


@pytest.mark.parametrize(
    ("declared", "legal"),
    [
        (aks_pool.Capacity, pool_arguments.CAPACITIES),
        (aks_pool.Driver, gpu_node_group.DRIVERS),
        (aks_pool.Fabric, infiniband.NETWORKS),
        (aks_pool.OsSku, gpu_node_group.OS_SKUS),
        (aks_pool.Placement, placement.PLACEMENTS),
        (aks_pool.ScaleDown, gpu_node_group.SCALE_DOWNS),
        # Batch does not support capacity reservations, which a rule of its own says.
        (azure_batch_pool.Capacity, pool_arguments.CAPACITIES[:2]),
        (azure_batch_pool.Fabric, infiniband.NETWORKS),
        (azure_batch_pool.Scaling, batch_rules.SCALINGS),
        (batch_mounts.Kind, tuple(mount_rules._REQUIRED)),
        (cluster.Outbound, cluster_rules.OUTBOUND),
        (cluster.Tier, cluster_rules.TIERS),
        (cluster.Upgrades, cluster_rules.UPGRADES),
        (network.Nat, network_rules.NAT),
        (nfs_share.Redundancy, share_rules.REDUNDANCIES),
        (registry.Sku, registry_rules.SKUS),
        (shared_files.Access, storage_files.ACCESS),
        (shared_files.Redundancy, storage_files.REDUNDANCY),
        (site_link.Kind, link_rules.KINDS),
    ],
    ids=str,
)
def test_words(declared: Any, legal: tuple[str, ...]) -> None:
    assert get_args(declared) == legal
