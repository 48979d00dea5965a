"""Rules on the Kubernetes labels and taints of AKS nodes."""

from collections.abc import Mapping

from gpufleet.rules import read
from gpufleet.rules.labels import key_form, value_form
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_RESERVED = ("kubernetes.azure.com", "kubernetes.io")


@rule("azure-label-reserved", Severity.ERROR)
def label_free(*, argument: str, key: str) -> Outcome:
    """A label or taint of nodes has no key that AKS keeps for itself; `argument` is labels or taints.key.

    Source: https://learn.microsoft.com/azure/aks/use-labels#reserved-prefixes: kubernetes.azure.com/ and kubernetes.io/
    """
    domain = key.rpartition("/")[0]
    if not any(domain == root or domain.endswith(f".{root}") for root in _RESERVED):
        return passed()
    return failed(argument, key, "has a prefix that AKS keeps for itself", "use a domain of your own: example.com/role")


def judge_node_labels(pool: Mapping[str, object]) -> list[Finding]:
    """Every finding on the labels and taints of an agent pool. Reads labels and taints (key, value)."""
    findings: list[Finding] = []
    for key, value in read.mapping(pool, "labels").items():
        findings += [key_form(argument="labels", key=key), label_free(argument="labels", key=key)]
        if isinstance(value, str):
            findings.append(value_form(argument=f"labels.{key}", value=value))
    taints = pool.get("taints")
    for taint in taints if isinstance(taints, list | tuple) else ():
        if isinstance(taint, Mapping):
            key = read.text(taint, "key")
            findings += [key_form(argument="taints.key", key=key), label_free(argument="taints.key", key=key)]
            findings.append(value_form(argument="taints.value", value=read.text(taint, "value")))
    return findings
