"""Rules on the Kubernetes labels and taints of a pool's nodes."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from gpufleet.rules import coerce
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")

_OF_NODES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_ALLOWED = frozenset(
    {
        *(f"beta.kubernetes.io/{name}" for name in ("arch", "instance-type", "os")),
        *(f"failure-domain.beta.kubernetes.io/{name}" for name in ("region", "zone")),
        *(f"kubernetes.io/{name}" for name in ("arch", "hostname", "os")),
        *(f"topology.kubernetes.io/{name}" for name in ("region", "zone")),
    }
)
"""Other labels that a kubelet may give itself. Source: --node-labels in the kubelet's reference."""


@rule("any-label-form", Severity.ERROR)
def key_form(*, argument: str, key: str) -> Outcome:
    """The key of a label or a taint is valid in Kubernetes: a name, after a domain and a slash if wanted.

    Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set; a node
    with another never registers.
    """
    prefix, slash, name = key.rpartition("/")
    legal_prefix = not slash or (len(prefix) <= 253 and _DOMAIN.fullmatch(prefix))
    if legal_prefix and len(name) <= 63 and _NAME.fullmatch(name):
        return passed()
    fix = "use at most 63 letters, digits and - _ . between them, after a domain and / if you like: example.com/team"
    return failed(argument, key, "is not a valid Kubernetes key", fix)


@rule("any-label-value", Severity.ERROR)
def value_form(*, argument: str, value: str) -> Outcome:
    """The value of a label or a taint is valid in Kubernetes: empty, or up to 63 characters like a name.

    Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
    """
    if not value or (len(value) <= 63 and _NAME.fullmatch(value)):
        return passed()
    fix = "use at most 63 letters, digits and - _ . between them"
    return failed(argument, value, "is not a valid Kubernetes value", fix)


@rule("aws-label-kubelet", Severity.ERROR)
def kubelet_allows(*, key: str) -> Outcome:
    """A label below kubernetes.io or k8s.io is one that the kubelet may set on its own node on EKS.

    Source: terraform-aws-modules/terraform-aws-eks#3346 and eksctl-io/eksctl#6856: EKS hands labels to the kubelet,
    which does not start with node-role.kubernetes.io/worker, and after 20 minutes: NodeCreationFailure;
    https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/ (--node-labels)
    """
    domain = key.rpartition("/")[0]
    reserved = any(domain == root or domain.endswith(f".{root}") for root in ("kubernetes.io", "k8s.io"))
    own = any(domain == root or domain.endswith(f".{root}") for root in _OF_NODES)
    if not reserved or own or key in _ALLOWED:
        return passed()
    problem = "nodes with it never join: the kubelet may not give itself this label"
    return failed("labels", key, problem, "use your own domain, such as example.com/role, or node.kubernetes.io")


@lru_cache(maxsize=1024)
def _label(key: str, value: str | None) -> Sequence[Finding]:
    """Findings on one label, which all pools of a stack have as a rule."""
    found = (key_form(argument="labels", key=key), kubelet_allows(key=key))
    return found if value is None else (*found, value_form(argument=f"labels.{key}", value=value))


def validate_labels(pool: Mapping[str, object]) -> list[Finding]:
    """Every finding on the labels and taints of a pool. Reads labels and taints (key, value)."""
    findings: list[Finding] = []
    for key, value in coerce.mapping(pool, "labels").items():
        findings += _label(key, value if isinstance(value, str) else None)
    taints = pool.get("taints")
    for taint in taints if isinstance(taints, list | tuple) else ():
        if isinstance(taint, Mapping):
            findings.append(key_form(argument="taints.key", key=coerce.text(taint, "key")))
            findings.append(value_form(argument="taints.value", value=coerce.text(taint, "value")))
    return findings
