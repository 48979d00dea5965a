"""Rules on the Kubernetes labels of AKS nodes."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.labels import key_form, value_form
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_OF_KUBERNETES = ("kubernetes.io", "k8s.io")
_ALLOWED = ("node.kubernetes.io", "kubelet.kubernetes.io", "node-role.kubernetes.io")


@rule("azure-label-reserved", Severity.ERROR)
def label_free(*, key: str) -> Outcome:
    """A label of nodes has no key that AKS or Kubernetes keeps for itself.

    Source: https://learn.microsoft.com/azure/aks/use-labels#reserved-prefixes; Azure/AKS#2866 (Invalid node label key,
    allowed prefixes) and Azure/AKS#4628 (node-role is one)
    """
    domain = key.rpartition("/")[0]
    of_kubernetes = any(domain == root or domain.endswith(f".{root}") for root in _OF_KUBERNETES)
    if domain != "kubernetes.azure.com" and (not of_kubernetes or domain in _ALLOWED):
        return passed()
    return failed("labels", key, "has a prefix that AKS keeps for itself", "use your own domain: example.com/role")


def validate_node_labels(pool: Mapping[str, object]) -> list[Finding]:
    """Every finding on the labels and taints of an agent pool. Reads labels and taints (key, value)."""
    findings: list[Finding] = []
    for key, value in coerce.mapping(pool, "labels").items():
        findings += [key_form(argument="labels", key=key), label_free(key=key)]
        if isinstance(value, str):
            findings.append(value_form(argument=f"labels.{key}", value=value))
    taints = pool.get("taints")
    for taint in taints if isinstance(taints, list | tuple) else ():
        if isinstance(taint, Mapping):
            key = coerce.text(taint, "key")
            findings.append(key_form(argument="taints.key", key=key))
            findings.append(value_form(argument="taints.value", value=coerce.text(taint, "value")))
    return findings
