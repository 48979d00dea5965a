"""Who owns a cloud resource or a Kubernetes object, by its tags or labels: the one notion of it.

`adopt`, `reap`, `stop`, `ps` and the inventories ask here. What is not certainly owned by an environment is reported,
never taken: in one account two projects may have a stack of one name, and anybody who may write tags can write one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields

from gpufleet.pools.node_labels import PREFIX, label_value

STACK_TAG = "gpufleet-stack"
"""The mark of gpufleet: a tag with the Pulumi project and stack that made the resource, as `project/stack`.

Every component sets it. As a label it is `gpufleet.dev/stack`, where / becomes -.
"""
STACK_LABEL = "stack"
OWNERSHIP_TAGS = (STACK_TAG, "environment", "project", "owner")
"""In the order of the fields of `Ownership`."""
ERASE_OUTPUT = "erase"
"""Output of a stack whose configuration says that a destroy deletes its data too: nothing else does."""


def stack_mark(project: str, stack: str) -> str:
    """The value of the mark. project, stack: of Pulumi; the stack without its organization."""
    return f"{project}/{stack}"


@dataclass(frozen=True)
class Ownership:
    """The ownership tags of a resource, or of most resources of a stack. None: no such tag.

    stack: the mark. environment, project, owner: of its configuration, as people know it.
    """

    stack: str | None = None
    environment: str | None = None
    project: str | None = None
    owner: str | None = None

    @staticmethod
    def of_tags(tags: Mapping[str, object]) -> "Ownership":
        """The ownership in a resource's tags."""
        return Ownership(*(_text(tags.get(key)) for key in OWNERSHIP_TAGS))

    @staticmethod
    def of_labels(labels: Mapping[str, object]) -> "Ownership":
        """The ownership in a Kubernetes object's labels; values are label values (`as_labels`)."""
        return Ownership(*(_text(labels.get(f"{PREFIX}{each.name}")) for each in fields(Ownership)))

    @staticmethod
    def most_common(owners: Iterable["Ownership"]) -> "Ownership":
        """The most frequent ownership, the alphabetically first of equally frequent ones; of none, an empty one."""
        counted = Counter(owners)
        return min(counted, key=lambda each: (-counted[each], str(astuple(each))), default=Ownership())

    @property
    def as_labels(self) -> "Ownership":
        """The same as label values, to compare with an object's labels."""
        return Ownership(*(label_value(each) if each else each for each in astuple(self)))

    @property
    def is_marked(self) -> bool:
        """Whether gpufleet made it."""
        return self.stack is not None

    def owns(self, other: "Ownership") -> bool:
        """Whether what has the other ownership is certainly this one's: all four tags are there and the same."""
        return None not in astuple(self) and self == other

    def differences(self, other: "Ownership") -> list[str]:
        """How the other ownership differs, a text for each tag: `owner=other-team`, `no gpufleet-stack`."""
        pairs = zip(OWNERSHIP_TAGS, astuple(self), astuple(other), strict=True)
        return [f"{key}={has}" if has is not None else f"no {key}" for key, wants, has in pairs if wants != has]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
