"""The data table of a simulated cloud, and its loader.

A cloud is a directory (`aws/`) with
    cloud.yaml                CloudRow: what holds of every type
    types/<service>.yaml      {<type token>: TypeRow}
    refusals/<service>.yaml   [Refusal]
    scenarios/<name>.yaml     [ScenarioResource]: resources that a refusal's trigger needs first; those of the files in
                              scenarios/<name>/ follow
    lookups/<service>.yaml    {<token of an invoke>: Lookup}
The models of the rows are in `model.py` and `cloud_rows.py`. Every key is checked: an unknown one, an unknown operator,
an unreadable path or a reference to a type that has no row is one clear TableError that names file and row. Scenarios
are checked when they are first read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from gpufleet.errors import UserError
from gpufleet_rehearsal.table.cloud_conditions import Exists
from gpufleet_rehearsal.table.cloud_rows import CloudRow, Lookup
from gpufleet_rehearsal.table.model import (
    DeletionBlocker,
    ImplicitResource,
    Leftover,
    Operation,
    Refusal,
    Requirement,
    ScenarioResource,
    TableRow,
    TypeRow,
)
from gpufleet_rehearsal.table.paths import Json


class TableError(UserError):
    """The table cannot be used; the text is one line that names file and row."""


@dataclass(frozen=True)
class CloudTable:
    """The loaded table of one cloud."""

    cloud: str
    directory: Path
    types: Mapping[str, TypeRow]
    refusals: tuple[Refusal, ...]
    row: CloudRow = field(default_factory=CloudRow)
    lookups: Mapping[str, Lookup] = field(default_factory=dict)

    @cached_property
    def scenarios(self) -> Mapping[str, tuple[ScenarioResource, ...]]:
        """Read on first use: only tests need them, and a rehearsal loads the table in three processes."""
        scenarios: dict[str, tuple[ScenarioResource, ...]] = {}
        for file in _scenario_files(self.directory):
            parts = [file, *sorted(file.with_suffix("").glob("*.yaml"))]
            scenarios[file.stem] = tuple(
                _parse(ScenarioResource, row, part, _name(row)) for part in parts for row in _rows(part)
            )
            _check_known(self.types, file, {row.name: [row.type] for row in scenarios[file.stem]})
        return scenarios

    def refusals_of(self, type_: str, operation: Operation) -> Iterator[Refusal]:
        """Refusals that a request of this kind can meet."""
        return (row for row in self.refusals if row.type == type_ and row.operation == operation)


DATA = Path(__file__).parent.parent


@lru_cache(maxsize=4)
def load_table(cloud: str, data: Path = DATA) -> CloudTable:
    """Load and check the table of `cloud`, from the directory `data`/<cloud>. TableError names file and row."""
    directory = data / cloud
    if not directory.is_dir():
        raise TableError(f"{cloud}: the rehearsal has no table of this cloud in {data}")
    types: dict[str, TypeRow] = {}
    where: dict[str, Path] = {}
    for file in sorted(directory.glob("types/*.yaml")):
        for token, row in _mapping(file).items():
            if token in types:
                raise TableError(f"{file}: {token}: is already in {where[token].name}")
            types[token], where[token] = _parse(TypeRow, row, file, token), file
    refusals: dict[str, Refusal] = {}
    scenarios = [file.stem for file in _scenario_files(directory)]
    for file in sorted(directory.glob("refusals/*.yaml")):
        for refusal in [_parse(Refusal, row, file, _name(row)) for row in _rows(file)]:
            _check_known(types, file, {refusal.name: [refusal.type, *_types_in_conditions(refusal)]})
            if refusal.scenario is not None and refusal.scenario not in scenarios:
                known = ", ".join(scenarios)
                raise TableError(f"{file}: {refusal.name}: unknown scenario {refusal.scenario!r}; known are {known}")
            if refusal.name in refusals:
                raise TableError(f"{file}: {refusal.name}: a refusal of this name is already there")
            refusals[refusal.name] = refusal
    for token, type_row in types.items():
        _check_known(types, where[token], {token: list(_named_types(type_row))})
    lookups: dict[str, Lookup] = {}
    for file in sorted(directory.glob("lookups/*.yaml")):
        for token, row in _mapping(file).items():
            lookups[token] = lookup = _parse(Lookup, row, file, token)
            _check_known(types, file, {token: [*([lookup.type] if lookup.type else []), *lookup.or_types]})
    whole = directory / "cloud.yaml"
    cloud_row = _parse(CloudRow, _mapping(whole), whole, cloud) if whole.is_file() else CloudRow()
    return CloudTable(cloud, directory, types, tuple(refusals.values()), cloud_row, lookups)


def _named_types(row: TypeRow) -> Iterator[str]:
    for reference in row.references.values():
        yield from reference.to
    others: list[DeletionBlocker | Requirement | Leftover | ImplicitResource] = [
        *row.deletion_blockers,
        *row.needs,
        *row.leftovers,
        *row.implicit_resources,
    ]
    yield from (other.type for other in others)
    yield from _types_in_conditions(row)


def _types_in_conditions(part: object) -> Iterator[str]:
    """Types of other resources that conditions anywhere in a row ask for."""
    if isinstance(part, Exists):
        yield part.type
    if isinstance(part, BaseModel):
        part = [getattr(part, name) for name in type(part).model_fields]
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _types_in_conditions(inner)


def _check_known(types: Mapping[str, TypeRow], file: Path, named: Mapping[str, list[str]]) -> None:
    for row, tokens in named.items():
        for token in tokens:
            if token not in types:
                raise TableError(f"{file}: {row}: names the type {token!r}, which has no row in types/")


Model = TypeVar("Model", bound=TableRow)


def _parse(model: type[Model], row: object, file: Path, name: str) -> Model:
    try:
        return model.model_validate(row)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        where = f"{name}: {place}" if place else name
        raise TableError(f"{file}: {where}: {first['msg'].removeprefix('Value error, ')}{more}") from None


def _scenario_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("scenarios/*.yaml"))


def _read(file: Path) -> object:
    try:
        return yaml.load(file.read_text(), yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise TableError(f"{file}: is not valid YAML: {' '.join(str(error).split())}") from None


def _mapping(file: Path) -> dict[str, Json]:
    content = _read(file)
    if not isinstance(content, dict):
        raise TableError(f"{file}: must be an object of type rows, by type token")
    return content


def _rows(file: Path) -> list[Json]:
    content = _read(file)
    if not isinstance(content, list):
        raise TableError(f"{file}: must be a list of rows")
    return content


def _name(row: Json) -> str:
    return str(row.get("name", "?")) if isinstance(row, Mapping) else "?"
