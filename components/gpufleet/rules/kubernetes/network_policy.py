"""Rules on network policies: what a cluster's data plane makes of them."""

import re
from collections.abc import Sequence

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

_FIRST = (1, 14)
"""Version of vpc-cni that has network policies."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)\b")


@rule("any-network-policy-peers", Severity.WARNING)
def peers_selectable(*, argument: str, cidrs: Sequence[str], selectors: bool) -> Outcome:
    """Under Cilium, a network policy that allows all addresses also selects pods: blocks of addresses match none.

    argument: egress or ingress. cidrs: its blocks. selectors: whether it, or another policy of its namespace, has a
    selector of pods or namespaces there, or a rule for all peers.

    Source: https://learn.microsoft.com/azure/aks/azure-cni-powered-by-cilium (frequently asked questions: ipBlock and
    node or pod addresses), https://docs.cilium.io/en/stable/security/policy/language/#ip-cidr-based
    """
    anywhere = [cidr for cidr in cidrs if cidr.endswith("/0")]
    if selectors or not anywhere:
        return passed()
    fix = "add the peer {namespaceSelector: {}}, or a podSelector"
    return failed(argument, ", ".join(anywhere), "does not match pods under Cilium, nor DNS among them", fix)


@rule("aws-network-policy-enforced", Severity.WARNING)
def policies_enforced(*, policies: int, settings: str, enforced: bool | None) -> Outcome:
    """The add-on vpc-cni of an EKS cluster with network policies has enableNetworkPolicy.

    policies: how many the stack has. enforced: None where the add-on's configuration is not known.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html: off by default, and the
    API server accepts network policies anyway.
    """
    if enforced or not policies:
        return passed()
    fix = 'set enableNetworkPolicy to "true" in it, as a text'
    if enforced is None:
        return unverified("configuration_values", settings, "whether network policies are enforced is not known", fix)
    return failed("configuration_values", settings, "does not enforce the stack's network policies", fix)


@rule("aws-network-policy-version", Severity.ERROR)
def version_enforces(*, version: str, enabled: bool, argument: str = "addon_version") -> Outcome:
    """The add-on vpc-cni knows the setting enableNetworkPolicy; `version` is "" for the one that EKS chooses.

    Source: https://github.com/aws/amazon-vpc-cni-k8s/releases/tag/v1.14.0, awslabs/cdk-eks-blueprints#850: from 1.14
    on; EKS rejects settings that a version does not have: aws/amazon-vpc-cni-k8s#2173 (InvalidParameterException:
    ConfigurationValue provided in request is not supported).
    """
    if not version or not enabled:
        return passed()
    fix = "use v1.14 or newer, or leave it out: EKS then chooses it"
    found = _VERSION.match(version)
    if found is None:
        return unverified(argument, version, "whether this version knows enableNetworkPolicy is not known", fix)
    if (int(found[1]), int(found[2])) >= _FIRST:
        return passed()
    return failed(argument, version, "does not know enableNetworkPolicy, and EKS rejects the setting", fix)
