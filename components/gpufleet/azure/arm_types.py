"""Which resource of Pulumi an id of Azure Resource Manager is, and how things are listed: arm_types.json, read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.documents.json import read_json

GROUP = "azure-native:resources:ResourceGroup"
BUDGET = "azure-native:consumption:Budget"
ROLE = "azure-native:authorization:RoleAssignment"


@dataclass(frozen=True)
class ArmType:
    """A type of Pulumi's; arm_types.json explains the fields."""

    type: str
    id: str
    version: str
    not_in: Sequence[str] = ()
    tagged: bool = False
    quiet: Mapping[str, Any] | None = field(default=None, hash=False)

    @cached_property
    def names(self) -> list[str]:
        """The inputs that name it, the subscription aside; the last one is its own name."""
        return [name for name in re.findall(r"\{(\w+)\}", self.id) if name != "subscriptionId"]

    @cached_property
    def collection(self) -> str:
        """Template of what one lists it by."""
        return self.id.rpartition("/")[0]

    @cached_property
    def kind(self) -> str:
        """Its type in Azure: Microsoft.Storage/storageAccounts/blobServices/containers."""
        provider = self.id.rpartition("/providers/")[2]
        space, *rest = [part for part in provider.split("/") if not part.startswith("{") and part != "default"]
        return "/".join((space or "Microsoft.Resources", *rest))

    def read(self, id_: str) -> dict[str, str] | None:
        """What an id has where this row has braces, or None where it is another type's."""
        match = self._pattern.fullmatch(id_)
        return None if match is None else match.groupdict()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)\}", self.id)
        groups = [f"(?P<{name}>{'/.+' if name == 'scope' else '[^/]+'})" for name in parts[1::2]]
        texts = [re.escape(text) for text in parts[::2]]
        return re.compile("".join(a + b for a, b in zip(texts, [*groups, ""], strict=True)), re.IGNORECASE)


@cache
def rows() -> tuple[ArmType, ...]:
    """All rows, read once."""
    read = read_json(Path(__file__).with_name("arm_types.json"))
    return tuple(ArmType(**row) for row in read["rows"])


def row_of(type_: str) -> ArmType:
    """The row of a type. Errors: StopIteration for one that is not in the table."""
    return next(row for row in rows() if row.type == type_)


def inside(above: ArmType) -> list[ArmType]:
    """Types of what lies directly in a thing of this type."""
    return [row for row in rows() if row.id.startswith(f"{above.id}/") and len(row.names) == len(above.names) + 1]


def found_at(
    id_: str, item: Mapping[str, Any], tags: Mapping[str, object], *, quiet: bool = False
) -> CloudResource | None:
    """The resource under an id, from its description `item` (properties); None for a type without a row.

    Its import id is spelled as the provider spells it, whose capitals Azure's answers do not always have. tags: that
    say whose it is, its own or of what it lies in.
    """
    for row in rows():
        values = row.read(id_)
        if values is not None:
            spelled = row.id.format(**values)
            known = item.get("properties") or {}
            alone = row.quiet is not None and all(known.get(key) == value for key, value in row.quiet.items())
            inputs = {name: values[name] for name in row.names}
            return CloudResource(
                row.type, spelled, None, spelled, inputs, own=row.names[-1], tags=tags, quiet=quiet or alone
            )
    return None


def tags_of(item: Mapping[str, Any]) -> Mapping[str, str]:
    """A thing's tags; agent pools have them among their properties."""
    return item.get("tags") or (item.get("properties") or {}).get("tags") or {}


def counted_tags(filter_: Mapping[str, Any] | None) -> Mapping[str, str]:
    """The tags that something must have for a budget's filter to count its cost; those of one value."""
    filter_ = filter_ or {}
    parts = [each["tags"] for each in (filter_, *(filter_.get("and") or [])) if each.get("tags")]
    return {part["name"]: part["values"][0] for part in parts if len(part.get("values") or ()) == 1}
