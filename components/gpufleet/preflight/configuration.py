"""What a stack's configuration says that a preflight needs: keys to texts, lists or mappings."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import cast

from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.plan.quota_limits import QuotaLimit, read_quotas
from gpufleet.rules.coerce import from_engine
from gpufleet.rules.suppression import Suppression, read_suppressions


@dataclass(frozen=True)
class PreflightConfiguration:
    """values: every key with its namespace. zone_names: zone id -> the account's name, as the stack has it."""

    values: Mapping[str, object]
    zone_names: Mapping[str, str]
    limits: tuple[QuotaLimit, ...]
    suppressions: tuple[Suppression, ...]


def read_configuration(values: Mapping[str, object], where: str, today: date) -> PreflightConfiguration:
    """The configuration in these values, which the engine gives as text or JSON.

    where: what the lines of errors begin with. Errors: UserError with one line for each fault of quotas and
    suppressions; what else is wrong is the program's to say.
    """
    plain = {key: from_engine(value) for key, value in values.items()}
    names = plain.get("gpufleet:zone_names")
    lines: list[str] = []
    limits: tuple[QuotaLimit, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    try:
        limits = read_quotas(plain.get("gpufleet:quotas"), f"{where}: gpufleet:quotas")
    except UserError as error:
        lines.append(str(error))
    try:
        suppressions = read_suppressions(plain.get("gpufleet:suppress"), f"{where}: gpufleet:suppress", today)
    except UserError as error:
        lines.append(str(error))
    if lines:
        raise UserError("\n".join(lines))
    zone_names = {str(key): str(value) for key, value in names.items()} if isinstance(names, Mapping) else {}
    return PreflightConfiguration(plain, zone_names, limits, suppressions)


def values_in_file(file: Path) -> Mapping[str, object]:
    """The values of a `Pulumi.<stack>.yaml`. Errors: UserError."""
    document = read_yaml(file)
    config = document.get("config") if isinstance(document, Mapping) else None
    return cast("Mapping[str, object]", config) if isinstance(config, Mapping) else {}
