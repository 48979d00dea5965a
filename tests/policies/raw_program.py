"""Raw resources, as a program without any component of ours would register them, for tests of plans and packs.

`resources` maps a logical name to {"type": token, "inputs": {...}, "parent": name, "dependsOn": [names],
"ignoreChanges": [paths]}. A text `${name.property}` is an output of another resource: not known at preview, and the
engine knows that the value depends on it.
"""

import re
from collections.abc import Mapping
from typing import Any

from pulumi_policy import PolicyProviderResource, PolicyResource, PolicyResourceOptions, StackValidationArgs
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from gpufleet.plan import UNKNOWN, Plan, Resource

_REFERENCE = re.compile(r"\$\{([^.}]+)\.[^}]+\}")


def urn_of(name: str, resources: Mapping[str, Mapping[str, Any]], stack: str = "dev") -> str:
    return f"urn:pulumi:{stack}::theirs::{resources[name]['type']}::{name}"


def plan_from(resources: Mapping[str, Mapping[str, Any]], region: str | None = "us-east-1", stack: str = "dev") -> Plan:
    """The plan of these resources at preview."""
    return Plan(stack, [_resource(name, resources, region, stack) for name in resources])


def policy_args(
    resources: Mapping[str, Mapping[str, Any]],
    config: Mapping[str, Any] | None = None,
    region: str = "us-east-1",
    stack: str = "dev",
) -> StackValidationArgs:
    """What Pulumi's policy SDK gives a stack policy for these resources at preview: behind its own proxies."""
    made: dict[str, PolicyResource] = {}
    for name, each in resources.items():
        props = unknown_checking_proxy(_filled(each.get("inputs", {}), UNKNOWN_STRING_VALUE))
        provider = PolicyProviderResource("pulumi:providers:aws", unknown_checking_proxy({"region": region}), "", "p")
        options = PolicyResourceOptions(False, list(each.get("ignoreChanges", [])), False, None, [], None, {})
        urn = urn_of(name, resources, stack)
        made[name] = PolicyResource(each["type"], props, urn, name, options, provider, None, [], {})
    for name, each in resources.items():
        depends = _depends(each.get("inputs", {}))
        made[name].property_dependencies = {key: [made[other] for other in found] for key, found in depends.items()}
        made[name].parent = made.get(each.get("parent", ""))
        made[name].dependencies = [made[other] for other in _waits_for(each)]
    return StackValidationArgs(list(made.values()), config)


def _resource(name: str, resources: Mapping[str, Mapping[str, Any]], region: str | None, stack: str) -> Resource:
    inputs = resources[name].get("inputs", {})
    depends = {key: [urn_of(other, resources, stack) for other in found] for key, found in _depends(inputs).items()}
    parent = resources[name].get("parent")
    return Resource(
        urn=urn_of(name, resources, stack),
        type=resources[name]["type"],
        ignored=frozenset(resources[name].get("ignoreChanges", [])),
        inputs=_filled(inputs, UNKNOWN),
        depends=depends,
        parent=urn_of(parent, resources, stack) if parent else "",
        provider_region=region,
        waits_for=frozenset(urn_of(other, resources, stack) for other in _waits_for(resources[name])),
    )


def _waits_for(resource: Mapping[str, Any]) -> list[str]:
    depends = _depends(resource.get("inputs", {}))
    return list(
        dict.fromkeys([*(name for found in depends.values() for name in found), *resource.get("dependsOn", [])])
    )


def _depends(inputs: Mapping[str, Any]) -> dict[str, list[str]]:
    # Each resource once, as the engine tells them.
    return {key: list(dict.fromkeys(found)) for key, value in inputs.items() if (found := _references(value))}


def _references(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [name for item in value.values() for name in _references(item)]
    if isinstance(value, list):
        return [name for item in value for name in _references(item)]
    return _REFERENCE.findall(value) if isinstance(value, str) else []


def _filled(value: Any, unknown: object) -> Any:
    """A value with `unknown` in place of every text that holds a reference."""
    if isinstance(value, Mapping):
        return {key: _filled(item, unknown) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, unknown) for item in value]
    return unknown if isinstance(value, str) and _REFERENCE.search(value) else value
