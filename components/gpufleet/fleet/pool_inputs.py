"""The inputs of a pool that `gpufleet stop` has scaled to zero."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.plan.property_values import blocks, get_path, number
from gpufleet.pools.node_labels import EFFECTS

STOPPED_TAINT: Mapping[str, str] = {"key": "gpufleet.dev/stopped", "value": "true", "effect": "NO_SCHEDULE"}
"""On a stopped node group of EKS: without it a job that waits makes the cluster's autoscaler start nodes again. And on
a flavor of Kueue, which gives it to no job that does not tolerate it."""

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
COMPUTE_ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
AGENT_POOL = "containerservice:AgentPool"
BATCH_POOL = "batch:Pool"
SCHEDULE = "aws:autoscaling/schedule:Schedule"
"""Sizes of a node group by the hours: not a pool, but what would start one again in the morning."""
_FLAVOR = re.compile("kubernetes:kueue[.]x-k8s[.]io/v[0-9a-z]+:ResourceFlavor")
"""Not a pool either, but what a queue knows of one."""
_SPOT, _DEDICATED = "targetLowPriorityNodes", "targetDedicatedNodes"


def can_stop(kind: str) -> bool:
    """Whether a resource of this type has a number of nodes that `stopped_inputs` knows how to make 0."""
    if is_flavor(kind) or kind in (NODE_GROUP, COMPUTE_ENVIRONMENT, SCHEDULE):
        return True
    return _azure(kind) in (AGENT_POOL, BATCH_POOL)


def is_flavor(kind: str) -> bool:
    """Whether a resource of this type is a flavor of Kueue."""
    return _FLAVOR.fullmatch(kind) is not None


def stopped_inputs(kind: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a pool, by the provider's property names, with no nodes. Errors: KeyError for another type.

    A node group keeps its maximum, which EKS does not take as 0. A compute environment lets its running jobs end
    (https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateComputeEnvironment.html, state).
    """
    if kind == NODE_GROUP:
        sizes = {**inputs["scalingConfig"], "minSize": 0, "desiredSize": 0}
        return {**inputs, "scalingConfig": sizes, "taints": _tainted(inputs.get("taints"), STOPPED_TAINT)}
    if is_flavor(kind):
        taint = {**STOPPED_TAINT, "effect": EFFECTS[STOPPED_TAINT["effect"]]}
        return {**inputs, "spec": {**inputs["spec"], "nodeTaints": _tainted(inputs["spec"].get("nodeTaints"), taint)}}
    if kind == COMPUTE_ENVIRONMENT:
        return {**inputs, "state": "DISABLED", "computeResources": {**inputs["computeResources"], "minVcpus": 0}}
    if kind == SCHEDULE:
        return {**inputs, "minSize": 0, "maxSize": 0}
    if _azure(kind) == AGENT_POOL:
        # Without its autoscaler, for which there are no limits then, nothing starts a node.
        kept = {key: value for key, value in inputs.items() if key not in ("minCount", "maxCount")}
        return {**kept, "enableAutoScaling": False, "count": 0}
    if _azure(kind) == BATCH_POOL:
        return {**inputs, "scaleSettings": {"fixedScale": {_SPOT: 0, _DEDICATED: 0}}}
    raise KeyError(kind)


def is_stopped(kind: str, inputs: Mapping[str, object]) -> bool:
    """Whether a pool's inputs are those of `stopped_inputs`."""
    if kind == NODE_GROUP:
        sizes = (get_path(inputs, "scalingConfig", "minSize"), get_path(inputs, "scalingConfig", "desiredSize"))
        return sizes == (0, 0) and _is_tainted(inputs.get("taints"))
    if is_flavor(kind):
        return _is_tainted(get_path(inputs, "spec", "nodeTaints"))
    if kind == COMPUTE_ENVIRONMENT:
        return inputs.get("state") == "DISABLED" and not number(get_path(inputs, "computeResources", "minVcpus"))
    if kind == SCHEDULE:
        return (number(inputs.get("minSize")), number(inputs.get("maxSize"))) == (0, 0)
    if _azure(kind) == AGENT_POOL:
        return inputs.get("enableAutoScaling") is not True and number(inputs.get("count")) == 0
    if _azure(kind) == BATCH_POOL:
        fixed = get_path(inputs, "scaleSettings", "fixedScale")
        return isinstance(fixed, Mapping) and not any(number(fixed.get(word)) for word in (_SPOT, _DEDICATED))
    raise KeyError(kind)


def _tainted(taints: Sequence[Mapping[str, str]] | None, taint: Mapping[str, str]) -> list[Mapping[str, str]]:
    return [*(each for each in taints or () if each.get("key") != taint["key"]), dict(taint)]


def _is_tainted(taints: object) -> bool:
    return STOPPED_TAINT["key"] in [each.get("key") for each in blocks(taints)]


def _azure(kind: str) -> str:
    """A type of Azure's provider without its API version: containerservice:AgentPool. Empty for another cloud's."""
    parts = kind.split(":")
    if parts[0] != "azure-native" or len(parts) != 3:
        return ""
    return f"{parts[1].split('/')[0]}:{parts[2]}"
