"""Resources that are a part of another one in all but name, such as a node group's tags, and are shown with it.

parts.json: type -> `of`, the property that refers to the other resource, and `word`, what readers call the part; both
by the schemas of pulumi-aws (https://www.pulumi.com/registry/packages/aws/api-docs/).
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from gpufleet.documents.json import read_json
from gpufleet.report.model import ResourceChange
from gpufleet.report.preview import ResourceState
from gpufleet.rules.messages import plural

MAX_WORDS = 3
"""Kinds of parts that are named in one line; of more, only the number is."""


def owner_of(state: ResourceState) -> str:
    """URN of the resource that a resource is a part of; empty for any other resource, or if the state does not say."""
    row = _parts().get(state.get("type", ""))
    linked = (state.get("propertyDependencies") or {}).get(row["of"]) if row else None
    return linked[0] if linked else ""


def fold_parts(changes: Sequence[ResourceChange]) -> dict[str, list[ResourceChange]]:
    """URN of each change that is not a part -> the changes of its parts, in the order of the changes.

    A part whose owner does not change stands by itself, and so does one that data or work is lost with.
    """
    whole = {each.urn for each in changes if not each.part_of}
    found: dict[str, list[ResourceChange]] = {}
    for each in changes:
        if each.part_of not in whole or each.holds or each.ends:
            found.setdefault(each.urn, [])
        else:
            found.setdefault(each.part_of, []).append(each)
    return found


def parts_text(parts: Iterable[ResourceChange], operation: str, past_tense: Mapping[str, str]) -> str:
    """11 Auto Scaling tags, 1 route created: the operation where it is not that of the whole."""
    counted: dict[tuple[str, str], int] = {}
    for each in parts:
        key = (_word(each.type), "" if each.operation == operation else past_tense.get(each.operation, each.operation))
        counted[key] = counted.get(key, 0) + 1
    if len(counted) > MAX_WORDS:
        return plural(sum(counted.values()), "part")
    return ", ".join(" ".join(filter(None, (plural(number, word), done))) for (word, done), number in counted.items())


def _word(kind: str) -> str:
    return _parts().get(kind, {}).get("word") or kind.rsplit(":", 1)[-1]


@cache
def _parts() -> Mapping[str, Mapping[str, str]]:
    return cast("dict[str, dict[str, str]]", read_json(Path(__file__).with_name("parts.json")))
