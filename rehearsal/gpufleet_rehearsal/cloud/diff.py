"""What changes between two sets of inputs, and whether the change replaces the resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpufleet_rehearsal.cloud.change import ChangeKind, Diff, PropertyChange, join_path
from gpufleet_rehearsal.cloud.naming import name_pattern
from gpufleet_rehearsal.table.cloud_rows import CloudRow
from gpufleet_rehearsal.table.conditions import same
from gpufleet_rehearsal.table.model import TypeRow
from gpufleet_rehearsal.table.paths import Json, Scope


def diff(row: TypeRow, cloud: CloudRow, scope: Scope, olds: Mapping[str, Json], news: Mapping[str, Json]) -> Diff:
    """Compare a resource's inputs. Absent, null and empty are the same.

    scope: of the new inputs, which knows the old ones; conditions on what replaces the resource are asked there.
    """

    def without(inputs: Mapping[str, Json]) -> Mapping[str, Json]:
        return {key: value for key, value in inputs.items() if key != cloud.made_flag}

    immutable = [
        *row.immutable,
        *(path for one in row.immutable_when if one.when.holds(scope) for path in one.properties),
    ]
    found = tuple(
        PropertyChange(path, kind, any(_inside(plain_path, held) for held in immutable))
        for path, plain_path, kind in _compare(without(olds), without(news), "", "", row.unordered)
    )
    replaced = any(change.replaces for change in found)
    if cloud.made_flag is not None:
        return Diff(found, replaced and olds.get(cloud.made_flag) is not True)
    return Diff(found, replaced and (row.delete_before_replace or _fixed_name(row, cloud, scope.here.name, olds, news)))


def _fixed_name(row: TypeRow, cloud: CloudRow, name: str, olds: Mapping[str, Json], news: Mapping[str, Json]) -> bool:
    """Whether the program itself gave the name and keeps it, so that old and new cannot be there together."""
    if row.autoname is None:
        return False
    old, new = olds.get(row.autoname.property), news.get(row.autoname.property)
    made = name_pattern(row.autoname, cloud, name)
    return isinstance(new, str) and new == old and not made.fullmatch(new)


def _inside(path: str, held: str) -> bool:
    return path == held or path.startswith(f"{held}.") or held.startswith(f"{path}.")


def _compare(
    old: Json, new: Json, path: str, plain_path: str, unordered: Sequence[str]
) -> Iterator[tuple[str, str, ChangeKind]]:
    if _empty(old) and _empty(new):
        return
    if path and (_empty(old) or _empty(new)):
        yield path, plain_path, "add" if _empty(old) else "delete"
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new} - {"__defaults"}):
            inner = f"{plain_path}.{key}" if plain_path else key
            yield from _compare(old.get(key), new.get(key), join_path(path, key), inner, unordered)
    elif _is_list(old) and _is_list(new):
        if plain_path in unordered:
            old, new = sorted(old, key=_written), sorted(new, key=_written)  # type: ignore[arg-type]  # lists, asked above
        for n in range(max(len(old), len(new))):  # type: ignore[arg-type]
            before, after = (side[n] if n < len(side) else None for side in (old, new))  # type: ignore[arg-type,index]
            yield from _compare(before, after, f"{path}[{n}]", plain_path, unordered)
    elif not same(old, new):
        yield path, plain_path, "update"


def _written(value: Json) -> str:
    """A value as text that does not depend on the order of its keys: the engine sends them in any."""
    if isinstance(value, Mapping):
        return repr([(key, _written(value[key])) for key in sorted(value)])
    return repr([_written(each) for each in value]) if _is_list(value) else repr(value)  # type: ignore[union-attr]


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _empty(value: Json) -> bool:
    return value is None or (not isinstance(value, (bool, int, float, str)) and len(value) == 0)
