"""Rules on the size of a subnet of AKS, as a program's resources make it."""

from ipaddress import IPv4Network

from gpufleet.rules.azure.addresses import RESERVED
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

USUAL_PODS = 30
"""maxPods of a pool with Azure CNI: https://learn.microsoft.com/azure/aks/configure-azure-cni"""


@rule("azure-subnet-size", Severity.ERROR)
def subnet_size(*, subnet: str, cidr: str, nodes: int, pods: int) -> Outcome:
    """A subnet has an address for each node that its pools may have and, without an overlay, for each of their pods.

    nodes, pods: of all pools in the subnet at their largest; 0 pods where they are in an overlay or a subnet of their
    own.

    Source: learn.microsoft.com/troubleshoot/azure/azure-kubernetes, insufficientsubnetsize-error-advanced-networking;
    Azure/AKS#3653 (InsufficientSubnetSize: Pre-allocated IPs 255 exceeds IPs available 251, which counts maxCount).
    """
    try:
        free = IPv4Network(cidr, strict=False).num_addresses - RESERVED
    except ValueError:
        # Azure says what is wrong with the range.
        return passed()
    if nodes + pods <= free:
        return passed()
    taken = f"{nodes} nodes" + (f" and {pods} pods" if pods else "")
    prefix = 32 - (nodes + pods + RESERVED - 1).bit_length()
    overlay = ", or an overlay (networkPluginMode: overlay), in which pods take no address of it" if pods else ""
    problem = f"{cidr} has {free} addresses for {taken}"
    return failed("address_prefix", subnet, problem, f"use /{prefix} or larger{overlay}")
