"""The nodes that controllers with webhooks run on, where own servers have joined a cloud's cluster."""

from collections.abc import Mapping
from typing import TypedDict

from gpufleet.platform.pools import Pools
from gpufleet.pools.node_labels import CLOUD, REGION_LABEL


class WebhookNodes(TypedDict, total=False):
    """Labels of the nodes, if not any will do."""

    node_selector: Mapping[str, str]


def places_of(pools: Pools) -> set[str]:
    """The places of the pools' nodes."""
    return {pool.get("place", CLOUD) for pool in pools.values()}


def webhook_nodes(pools: Pools, cloud: str | None, region: str) -> WebhookNodes:
    """Nodes of the cloud: EKS may not reach a webhook on own servers.

    Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-webhooks.html
    """
    if cloud != "aws" or places_of(pools) <= {CLOUD}:
        return {}
    return {"node_selector": {REGION_LABEL: region}}
