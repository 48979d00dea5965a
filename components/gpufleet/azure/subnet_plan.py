"""Which addresses each subnet of a virtual network of Azure gets: plain arithmetic, decided before the first resource.

The network is cut into quarters: the first for the nodes of a cluster, the second for those of Azure Batch, the third
begins with a sixteenth of the network for private endpoints; the rest stays free for what people add.

With 10.60.0.0/16 each kind of node has 16,379 addresses that Azure hands out, and private endpoints have 4,091.
"""

from ipaddress import IPv4Network

SMALLEST = 24
"""Prefix length of the smallest network that is cut: its subnet for endpoints is a /28."""

ROLES = ("nodes", "batch", "endpoints")
"""What the subnets are for, and how they are called."""


def plan_azure_subnets(cidr: str) -> dict[str, str]:
    """Role to the CIDR of its subnet.

    Raises ValueError, with a reason for people, if `cidr` is not an IPv4 network, or is smaller than a /24.
    """
    network = IPv4Network(cidr)
    if network.prefixlen > SMALLEST:
        raise ValueError(f"{cidr} is too small for subnets of nodes, batch and endpoints")
    nodes, batch, rest, _ = network.subnets(prefixlen_diff=2)
    return {"nodes": str(nodes), "batch": str(batch), "endpoints": str(next(rest.subnets(prefixlen_diff=2)))}
