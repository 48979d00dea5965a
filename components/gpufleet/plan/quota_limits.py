"""Quotas as a configuration gives them: limits of an account that nobody has to look up with credentials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict, get_args

from gpufleet.catalog import aws, azure
from gpufleet.errors import UserError
from gpufleet.rules.coerce import is_whole
from gpufleet.rules.messages import format_value, join_words, nearest, use_one_of
from gpufleet.typed_dicts import NumberRange

Market = Literal["on-demand", "spot"]
MARKETS: tuple[str, ...] = get_args(Market)
ALL = "all"
"""The family of a limit on all GPU sizes together: Azure's regional cores, and the totals of a Batch account."""


class QuotaArgs(TypedDict):
    """The limit of an account on the vCPUs (cores) of a family that run at once in the region."""

    family: str
    """Family as the cloud calls it: P or G and VT on AWS, standardNCADSA100v4Family on Azure, or all (Azure only): the
    limit on all families together."""
    market: Market
    """In an Azure Batch account, on-demand is its dedicated cores and spot its low-priority ones."""
    limit: Annotated[int, NumberRange(0)]
    """vCPUs that the account may run at once."""
    in_use: NotRequired[Annotated[int, NumberRange(0)]]
    """vCPUs that run already, beside those of this stack; on AWS unused capacity reservations count as well. Without
    it a need below the limit is not verified."""
    account: NotRequired[str]
    """Name of the Azure Batch account whose own quota it is. Default: the subscription's or AWS account's."""


@dataclass(frozen=True)
class QuotaLimit:
    """What is known about one quota; in_use None = not known. account: "" for the subscription or AWS account."""

    family: str
    market: str
    limit: int
    in_use: int | None = None
    account: str = ""


class QuotaError(UserError):
    """A list of quotas that cannot be used; the text has one line for each fault."""


def read_quotas(entries: object, where: str) -> tuple[QuotaLimit, ...]:
    """Limits as a configuration holds them: a list of `QuotaArgs`, or None for none.

    where: the configuration's key, which the lines begin with. Errors: QuotaError.
    """
    if entries is None:
        return ()
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise QuotaError(
            f"{where}: must be a list; write [{{family: P, market: on-demand, limit: 192}}] [config-quota]"
        )
    lines = [
        f"{where}[{number}]{fault} [config-quota]" for number, entry in enumerate(entries) for fault in _faults(entry)
    ]
    found: dict[tuple[str, str, str], int] = {}
    limits: list[QuotaLimit] = []
    for number, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            continue
        family = plain_family(str(entry.get("family")))
        key = (str(entry.get("account", "")), _spelled().get(family, family), str(entry.get("market")))
        if key in found:
            of = f" of {key[0]}" if key[0] else ""
            said = f"{key[1]}, {key[2]}{of}: is there already, as {where}[{found[key]}]"
            lines.append(f"{where}[{number}].family={said}; keep one of them [config-quota]")
        found.setdefault(key, number)
        if not lines:
            limits.append(QuotaLimit(key[1], key[2], int(entry["limit"]), _whole(entry.get("in_use")), key[0]))
    if lines:
        raise QuotaError("\n".join(lines))
    return tuple(limits)


def _whole(number: object) -> int | None:
    """A whole number of a configuration; policy packs get theirs as floats."""
    return int(number) if is_whole(number) else None


def _faults(entry: object) -> list[str]:
    """What is wrong with one entry, each as `.key=value: problem; fix`."""
    if not isinstance(entry, Mapping):
        return [": must be a mapping; write {family: P, market: on-demand, limit: 192}"]
    keys = tuple(QuotaArgs.__annotations__)
    faults = [f".{key}: is not a key of a quota; {use_one_of(str(key), keys)}" for key in entry if key not in keys]
    for key in ("family", "market", "limit"):
        if key not in entry:
            faults.append(f".{key}: is missing; write {{family: P, market: on-demand, limit: 192}}")
    if "market" in entry and entry["market"] not in MARKETS:
        faults.append(
            f".market={format_value(entry['market'])}: is not a market; {use_one_of(str(entry['market']), MARKETS)}"
        )
    for key in ("limit", "in_use"):
        number = _whole(entry.get(key, 0))
        if number is None or number < 0:
            faults.append(
                f".{key}={format_value(entry[key])}: is not a number of vCPUs; give a whole number, 0 or more"
            )
    if not isinstance(entry.get("account", ""), str):
        faults.append(
            f".account={format_value(entry['account'])}: must be a string; give the name of an Azure Batch account"
        )
    if "family" in entry:
        faults += _family_faults(entry["family"])
    return faults


def _family_faults(family: object) -> list[str]:
    if isinstance(family, str) and plain_family(family) in _spelled():
        return []
    near = nearest(plain_family(str(family)), _spelled())
    meant = f"did you mean {_spelled()[near]}?" if near else f"use one of {join_words(families())}"
    return [f".family={format_value(family)}: unknown quota family; {meant}"]


def plain_family(name: str) -> str:
    """A quota family without capitals and blanks: Azure writes the same one in several ways."""
    return name.lower().replace(" ", "")


def families() -> tuple[str, ...]:
    """Every family of the catalog, AWS first."""
    of_aws = sorted({family for family, _ in aws().quotas})
    return (*of_aws, *sorted({size.quota_family for size in azure().types.values()}), ALL)


def _spelled() -> dict[str, str]:
    """How the catalog spells a family, by `plain_family`."""
    return {plain_family(family): family for family in families()}
