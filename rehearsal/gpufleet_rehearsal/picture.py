"""The picture of a stack, drawn from the engine's own state: Mermaid text that code hosts render."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

Resource = Mapping[str, Any]


def mermaid(resources: Sequence[Resource]) -> str:
    """A flowchart of the state's resources: one box a component, its children by kind and number, the zone ids they
    lie in, and an arrow where a component or its resources wait for another's.
    """
    by_urn = {resource["urn"]: resource for resource in resources}
    components = {urn: resource for urn, resource in by_urn.items() if _is_component(resource)}
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    arrows: set[tuple[str, str]] = set()
    for resource in resources:
        owner = resource["urn"] if resource["urn"] in components else _owner(resource, by_urn, components)
        if owner is None:
            continue
        if resource.get("custom"):
            kinds[owner][_kind(resource)] += 1
        for before in resource.get("dependencies", ()):
            other = _owner(by_urn[before], by_urn, components) if before in by_urn else None
            if other is not None and other != owner:
                arrows.add((other, owner))
    boxes = {urn: f"c{number}" for number, urn in enumerate(sorted(components))}
    lines = ["flowchart LR"]
    for urn, box in boxes.items():
        rows = "<br/>".join(f"{count} x {kind}" if count > 1 else kind for kind, count in sorted(kinds[urn].items()))
        title = f"<b>{components[urn]['type'].split(':')[-1]}</b> {urn.split('::')[-1]}"
        lines.append(f'    {box}["{title}<br/>{rows}"]')
    lines += [f"    {boxes[before]} --> {boxes[after]}" for before, after in sorted(_without_shortcuts(arrows))]
    return "\n".join(lines) + "\n"


def _is_component(resource: Resource) -> bool:
    return not resource.get("custom") and not resource["type"].startswith("pulumi:")


def _owner(resource: Resource, by_urn: Mapping[str, Resource], components: Mapping[str, Resource]) -> str | None:
    """The component that a resource belongs to, however deep."""
    while (parent := resource.get("parent")) is not None:
        if parent in components:
            return str(parent)
        resource = by_urn[parent]
    return None


def _kind(resource: Resource) -> str:
    """aws:ec2/subnet:Subnet in zone use1-az1 -> Subnet use1-az1."""
    name = str(resource["type"].split(":")[-1])
    zone = resource.get("outputs", {}).get("availabilityZoneId")
    return f"{name} {zone}" if zone else name


def _without_shortcuts(arrows: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Arrows that no longer path says already."""
    following: dict[str, set[str]] = defaultdict(set)
    for before, after in arrows:
        following[before].add(after)

    def reachable(start: str, goal: str) -> bool:
        waiting, seen = [n for n in following[start] if n != goal], set[str]()
        while waiting:
            node = waiting.pop()
            if node == goal:
                return True
            if node not in seen:
                seen.add(node)
                waiting.extend(following[node])
        return False

    return {(before, after) for before, after in arrows if not reachable(before, after)}
