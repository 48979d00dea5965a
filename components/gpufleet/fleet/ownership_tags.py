"""Owner, purpose and expiry of an environment, and whether it is certainly gpufleet's, by its resources' tags.

An environment on an on-prem cluster has nothing that takes tags, but labels. If there are both, tags count: a label's
value holds no spaces and few punctuation marks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property

from gpufleet.fleet.retained_data import is_cloud_resource, name_of
from gpufleet.fleet.stack_state import StackState
from gpufleet.ownership import STACK_LABEL, STACK_TAG, Ownership, stack_mark
from gpufleet.plan.property_values import get_path
from gpufleet.plan.tags import has_tags, tags_in
from gpufleet.pools.node_labels import PREFIX
from gpufleet.rules.messages import one_line, plural


@dataclass(frozen=True)
class TaggedResource:
    """A resource that takes tags, or a Kubernetes object.

    tags: its tags, or our labels without their prefix.
    """

    name: str
    tags: Mapping[str, object]
    ownership: Ownership


class OwnershipTags:
    """The ownership tags in a stack's state: as the cloud last told them, else as the program gave them."""

    def __init__(self, state: StackState, default: Mapping[str, object]) -> None:
        """default: the tags that its AWS providers add."""
        tagged = list(_tagged(state, default))
        self._uses_labels = not any(each.tags for each in tagged)
        mark = Ownership(stack_mark(state.project, state.name))
        self._mark = (mark.as_labels if self._uses_labels else mark).stack
        self.resources: Sequence[TaggedResource] = list(_labelled(state)) if self._uses_labels else tagged
        """Those that count: all that take tags, or all objects where no resource has a tag."""

    def values(self, key: str) -> Sequence[str]:
        """The values of a key on all resources, in order, each as one line: anybody may have written them."""
        return [one_line(value) for each in self.resources if isinstance(value := each.tags.get(key), str) and value]

    def most_common(self, key: str) -> str | None:
        """The most frequent value, the alphabetically first of equally frequent ones; None if there is none."""
        counted = Counter(self.values(key))
        return min(counted, key=lambda value: (-counted[value], value), default=None)

    def most_have(self, key: str) -> bool:
        """Whether most of the resources have a tag."""
        return 2 * sum(1 for each in self.resources if key in each.tags) > len(self.resources)

    @cached_property
    def ownership(self) -> Ownership:
        """Who owns most of the resources."""
        return Ownership.most_common(each.ownership for each in self.resources)

    @property
    def is_marked(self) -> bool:
        """Whether any resource has a mark of gpufleet, of this stack or another."""
        return any(each.ownership.is_marked for each in self.resources)

    @property
    def marked(self) -> Sequence[TaggedResource]:
        """The resources with the mark of this very stack."""
        return [each for each in self.resources if each.ownership.stack == self._mark]

    @property
    def others(self) -> Sequence[TaggedResource]:
        """The resources with the mark of another stack."""
        return [each for each in self.resources if each.ownership.stack not in (None, self._mark)]

    @property
    def doubt(self) -> str:
        """Why the stack is not certainly an environment of gpufleet's; empty where it certainly is.

        It is where most of its resources have the mark of this very stack and the same environment, project and owner,
        and none has the mark of another stack.
        """
        kind, key = ("labels", f"{PREFIX}{STACK_LABEL}") if self._uses_labels else ("tags", STACK_TAG)
        total = len(self.resources)
        if self.others:
            first = min(self.others, key=lambda each: each.name)
            more = f" and {len(self.others) - 1} more" if len(self.others) > 1 else ""
            return one_line(f"{first.name}{more}: {key}={first.ownership.stack}, the mark of another stack")
        if 2 * len(self.marked) <= total:
            mark = one_line(f"{key}={self._mark}")
            return f"{len(self.marked)} of {plural(total, 'resource')} with {kind} have {mark}, the mark of gpufleet"
        alike = sum(1 for each in self.resources if each.ownership == self.ownership)
        if None in astuple(self.ownership) or 2 * alike <= total:
            return (
                f"most of its {plural(total, 'resource')} with {kind} have no environment, project and owner in common"
            )
        return ""


def _tagged(state: StackState, default: Mapping[str, object]) -> Iterator[TaggedResource]:
    """The resources that take tags, by the properties that their provider shows."""
    for each in state.resources:
        if not is_cloud_resource(each) or each.get("external") or str(each["type"]).startswith("kubernetes:"):
            continue
        inputs, outputs = (_mapping(each.get(side)) for side in ("inputs", "outputs"))
        added = default if str(each["type"]).startswith("aws:") else {}
        if has_tags(outputs) or has_tags(inputs) or added:
            tags = tags_in(outputs) if has_tags(outputs) else {**added, **tags_in(inputs)}
            yield TaggedResource(name_of(each), tags, Ownership.of_tags(tags))


def _labelled(state: StackState) -> Iterator[TaggedResource]:
    """The Kubernetes objects, but not what only patches an object of somebody else's, such as a node."""
    for each in state.resources:
        kind = str(each["type"])
        if not kind.startswith("kubernetes:") or kind.endswith("Patch") or each.get("external"):
            continue
        sides = (get_path(_mapping(each.get(side)), "metadata") for side in ("outputs", "inputs"))
        metadata = next((each for each in sides if isinstance(each, Mapping)), None)
        if metadata is not None:
            labels = _mapping(metadata.get("labels"))
            own = {key.removeprefix(PREFIX): value for key, value in labels.items() if key.startswith(PREFIX)}
            yield TaggedResource(name_of(each), own, Ownership.of_labels(labels))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
