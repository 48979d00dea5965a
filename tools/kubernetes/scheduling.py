"""Whether a pod can run on a node, as far as an autoscaler has to know. Pure: objects of the API in, answers out.

Node selectors, required node affinity, taints and requests are looked at; affinity between pods, spread and volumes are
not.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

Object = Mapping[str, Any]
Amounts = dict[str, Fraction]

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def amount(text: object) -> Fraction:
    """A quantity of Kubernetes as a number: 1500m, 2Gi, 3, 1e3. Raises ValueError."""
    word = str(text)
    if word[-2:] in _BINARY:
        return Fraction(word[:-2]) * _BINARY[word[-2:]]
    if word[-1:] in _DECIMAL:
        return Fraction(word[:-1]) * Fraction(10) ** _DECIMAL[word[-1]]
    return Fraction(word)


def requests(pod: Object) -> Amounts:
    """What a pod asks for, one place among the node's pods included. Init containers run before the others."""
    spec = pod["spec"]
    together = _sum(_wanted(each) for each in spec["containers"])
    before = [_wanted(each) for each in spec.get("initContainers", ())]
    for wish in before:
        for name, value in wish.items():
            together[name] = max(together.get(name, Fraction(0)), value)
    return {**together, "pods": Fraction(1)}


def free(node: Object, pods: Iterable[Object]) -> Amounts:
    """What is left of a node under these pods, of which those that have ended take nothing."""
    taken = _sum(requests(pod) for pod in pods if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"))
    allocatable = node["status"]["allocatable"]
    return {name: amount(value) - taken.get(name, 0) for name, value in allocatable.items()}


def may_run(pod: Object, node: Object) -> bool:
    """Whether labels and taints let the pod onto the node."""
    spec, labels = pod["spec"], node["metadata"].get("labels", {})
    if any(labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
        return False
    required = spec.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if required and not any(_selects(term, labels) for term in required["nodeSelectorTerms"]):
        return False
    hard = [taint for taint in node["spec"].get("taints", ()) if taint["effect"] in ("NoSchedule", "NoExecute")]
    return all(any(_tolerates(each, taint) for each in spec.get("tolerations", ())) for taint in hard)


def take(wish: Amounts, left: Amounts) -> bool:
    """Take a pod's requests from what is left, if they are there."""
    if any(value > left.get(name, 0) for name, value in wish.items() if value):
        return False
    for name, value in wish.items():
        left[name] = left.get(name, Fraction(0)) - value
    return True


def _wanted(container: Object) -> Amounts:
    resources = container.get("resources", {})
    return {
        name: amount(value) for name, value in {**resources.get("limits", {}), **resources.get("requests", {})}.items()
    }


def _sum(parts: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, Fraction(0)) + value
    return total


def _selects(term: Object, labels: Mapping[str, str]) -> bool:
    for rule in term.get("matchExpressions", ()):
        has, value = rule["key"] in labels, labels.get(rule["key"])
        holds = {
            "In": has and value in rule.get("values", ()),
            "NotIn": not has or value not in rule.get("values", ()),
            "Exists": has,
            "DoesNotExist": not has,
        }
        if rule["operator"] not in holds:
            raise ValueError(f"operator {rule['operator']}: the stand-in autoscaler knows {', '.join(holds)}")
        if not holds[rule["operator"]]:
            return False
    return "matchExpressions" in term


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    same_value = (toleration.get("value") or "") == (taint.get("value") or "")
    return toleration.get("key") == taint["key"] and same_value
