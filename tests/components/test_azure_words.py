"""The words that type checkers know are those that the rules take when a program runs."""

from typing import Any, get_args

import pytest

from gpufleet import agent_pool, batch_pool
from gpufleet.azure import batch_mounts, cluster, network, nfs_share, registry, shared_files, site_link
from gpufleet.rules import placement
from gpufleet.rules.azure import batch_mounts as mount_rules
from gpufleet.rules.azure import batch_pool as batch_rules
from gpufleet.rules.azure import cluster as cluster_rules
from gpufleet.rules.azure import files, infiniband, node_pool, pool
from gpufleet.rules.azure import network as network_rules
from gpufleet.rules.azure import nfs_share as share_rules
from gpufleet.rules.azure import registry as registry_rules
from gpufleet.rules.azure import site_link as link_rules


@pytest.mark.parametrize(
    ("declared", "legal"),
    [
        (agent_pool.Capacity, pool.CAPACITIES),
        (agent_pool.Driver, node_pool.DRIVERS),
        (agent_pool.Fabric, infiniband.NETWORKS),
        (agent_pool.OsSku, node_pool.OS_SKUS),
        (agent_pool.Placement, placement.PLACEMENTS),
        (agent_pool.ScaleDown, node_pool.SCALE_DOWNS),
        # Batch takes no capacity reservation, which a rule of its own says.
        (batch_pool.Capacity, pool.CAPACITIES[:2]),
        (batch_pool.Fabric, infiniband.NETWORKS),
        (batch_pool.Scaling, batch_rules.SCALINGS),
        (batch_mounts.Kind, tuple(mount_rules._REQUIRED)),
        (cluster.Outbound, cluster_rules.OUTBOUND),
        (cluster.Tier, cluster_rules.TIERS),
        (cluster.Upgrades, cluster_rules.UPGRADES),
        (network.Nat, network_rules.NAT),
        (nfs_share.Redundancy, share_rules.REDUNDANCIES),
        (registry.Sku, registry_rules.SKUS),
        (shared_files.Access, files.ACCESS),
        (shared_files.Redundancy, files.REDUNDANCY),
        (site_link.Kind, link_rules.KINDS),
    ],
    ids=str,
)
def test_words(declared: Any, legal: tuple[str, ...]) -> None:
    assert get_args(declared) == legal
