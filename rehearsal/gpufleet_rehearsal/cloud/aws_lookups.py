"""Look-ups of AWS's provider that it answers by computing: a policy document, the region's zones, and its partition.

Source: hashicorp/terraform-provider-aws, internal/service/iam/policy_document_data_source.go and policy_model.go,
internal/service/ec2/ec2_availability_zones_data_source.go, internal/service/meta/partition_data_source.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpufleet.aws.partition import partition
from gpufleet_rehearsal.cloud import aws_owned
from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.cloud.scope import CloudView
from gpufleet_rehearsal.table.paths import Json, json_items, json_objects
from gpufleet_rehearsal.table.templates import generated
from gpufleet_rehearsal.table.zone_names import zone_letter

PARTITION = "aws:index/getPartition:getPartition"
ZONES = "aws:index/getAvailabilityZones:getAvailabilityZones"
POLICY_DOCUMENT = "aws:iam/getPolicyDocument:getPolicyDocument"
_VERSIONS = ("2012-10-17", "2008-10-17")
_SID = re.compile(r"[a-zA-Z0-9]*")


def region_partition(cloud: CloudView, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """The partition of the region, with the suffix of its host names."""
    name = partition(cloud.region)
    suffix = "amazonaws.com.cn" if name == "aws-cn" else "amazonaws.com"
    return {"id": name, "partition": name, "dnsSuffix": suffix, "reverseDnsPrefix": ".".join(suffix.split(".")[::-1])}


def availability_zones(cloud: CloudView, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """The catalog's availability zones of the region by name: az1 is a in the simulated account, az2 is b.

    Filters of EC2 that are about zones of other kinds (`opt-in-status`, `zone-type`) pass all that are here.
    Errors: CloudError for a region that the catalog does not know, and for other filters.
    """
    from gpufleet.catalog import aws

    regions = aws().regions
    if cloud.region not in regions:
        raise CloudError(
            "", f"{ZONES}: the catalog has no zones of {cloud.region}; it knows {', '.join(sorted(regions))}"
        )
    zones = {f"{cloud.region}{zone_letter(zone)}": zone for zone in regions[cloud.region]}
    for each in json_objects(arguments.get("filters")):
        name, values = each.get("name"), {str(value) for value in json_items(each.get("values"))}
        match name:
            case "opt-in-status" | "zone-type":
                kept = values & {"opt-in-not-required", "availability-zone"}
                zones = zones if kept else {}
            case "region-name":
                zones = zones if cloud.region in values else {}
            case "zone-name":
                zones = {key: zone for key, zone in zones.items() if key in values}
            case "zone-id":
                zones = {key: zone for key, zone in zones.items() if zone in values}
            case _:
                known = "opt-in-status, region-name, zone-id, zone-name, zone-type"
                raise CloudError("", f"{ZONES}: filters: {name!r} is not simulated; use one of {known}")
    if arguments.get("state") not in (None, "available"):
        zones = {}
    excluded = {*json_items(arguments.get("excludeNames")), *json_items(arguments.get("excludeZoneIds"))}
    names = sorted(name for name, zone in zones.items() if not excluded & {name, zone})
    return {
        "id": cloud.region,
        "region": cloud.region,
        "names": names,
        "zoneIds": [zones[name] for name in names],
        "groupNames": [f"{cloud.region}-zg-1"] if names else [],
    }


def policy_document(cloud: CloudView, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """The policy that its statements give, with the documents that it is made from and that override it.

    Errors: CloudError where the provider has one: a statement id twice, a wrong effect or version, a source that is no
    JSON.
    """
    sources = [
        _parsed(text, f"merging source document {n}") for n, text in _numbered(arguments, "sourcePolicyDocuments")
    ]
    sids = [sid for source in sources for each in json_objects(source.get("Statement")) if (sid := each.get("Sid"))]
    if twice := next((sid for sid in sids if sids.count(sid) > 1), None):
        raise _wrong(
            f"merging source document: duplicate Sid ({twice}) in source_policy_documents. Remove the Sid or ensure "
            "Sids are unique."
        )
    overrides = [
        _parsed(text, f"merging override document {n}") for n, text in _numbered(arguments, "overridePolicyDocuments")
    ]
    merged: dict[str, Any] = {}
    for document in [*sources, _own_document(arguments), *overrides]:
        _merge(merged, document)
    order = ("Version", "Id", "Statement")
    ordered = {key: merged[key] for key in order if merged.get(key)}
    text = json.dumps(ordered, indent=2, ensure_ascii=False)
    return {
        "id": generated("digits", 10, text),
        "json": text,
        "minifiedJson": json.dumps(ordered, separators=(",", ":"), ensure_ascii=False),
    }


def _own_document(arguments: Mapping[str, Json]) -> dict[str, Any]:
    version = arguments.get("version", _VERSIONS[0])
    if version not in _VERSIONS:
        raise _wrong(f"expected version to be one of {list(reversed(_VERSIONS))}, got {version}")
    statements = [_statement(each, str(version)) for each in json_objects(arguments.get("statements"))]
    sids = [sid for each in statements if (sid := each.get("Sid"))]
    if twice := next((sid for sid in sids if sids.count(sid) > 1), None):
        raise _wrong(f"duplicate Sid ({twice}). Remove the Sid or ensure the Sid is unique.")
    return {"Version": version, "Id": arguments.get("policyId"), "Statement": statements}


def _statement(given: Mapping[str, Json], version: str) -> dict[str, Any]:
    effect, sid = given.get("effect") or "Allow", str(given.get("sid") or "")
    if effect not in ("Allow", "Deny"):
        raise _wrong(f'expected effect to be one of ["Allow" "Deny"], got {effect}')
    if not _SID.fullmatch(sid):
        raise _wrong(f"invalid value for sid (must only include alphanumeric characters): {sid}")
    statement = {
        "Sid": sid,
        "Effect": effect,
        "Action": _set(given.get("actions")),
        "NotAction": _set(given.get("notActions")),
        "Resource": _set(given.get("resources"), version),
        "NotResource": _set(given.get("notResources"), version),
        "Principal": _principals(given.get("principals"), version),
        "NotPrincipal": _principals(given.get("notPrincipals"), version),
        "Condition": _conditions(given.get("conditions"), version),
    }
    return {key: value for key, value in statement.items() if value}


def _set(given: Json, version: str | None = None) -> str | list[str]:
    """A set of texts: alone if it is one, else from the last to the first by the alphabet."""
    values = sorted({_variable(str(value), version) for value in json_items(given)}, reverse=True)
    return values[0] if len(values) == 1 else values


def _variable(text: str, version: str | None) -> str:
    """`&{` stands for the `${` of a policy's variables, which Terraform's language would take for its own."""
    if version == _VERSIONS[1] and "&{" in text:
        raise _wrong(f"found &{{ sequence in ({text}), which is not supported in document version {version}")
    return text.replace("&{", "${") if version else text


def _principals(given: Json, version: str) -> str | dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    for each in json_objects(given):
        kind, identifiers = str(each.get("type")), _set(each.get("identifiers"), version)
        before = found.get(kind)
        found[kind] = identifiers if before is None else [*_as_list(before), *_as_list(identifiers)]
    return "*" if found == {"*": "*"} else dict(sorted(found.items()))


def _conditions(given: Json, version: str) -> dict[str, dict[str, str | list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for each in json_objects(given):
        values = [_variable(str(value), version) for value in json_items(each.get("values"))]
        found.setdefault(str(each.get("test")), {}).setdefault(str(each.get("variable")), []).extend(values)
    return {
        test: {name: values[0] if len(values) == 1 else values for name, values in sorted(variables.items())}
        for test, variables in sorted(found.items())
    }


def _merge(document: dict[str, Any], newer: Mapping[str, Any]) -> None:
    """Lay a document over another: its statements take the place of those of the same id, and others follow."""
    document["Id"] = newer.get("Id") or document.get("Id")
    document["Version"] = max(newer.get("Version") or "", document.get("Version") or "")
    statements = document.setdefault("Statement", [])
    for statement in json_objects(newer.get("Statement")):
        sid = statement.get("Sid")
        place = next((n for n, each in enumerate(statements) if sid and each.get("Sid") == sid), None)
        if place is None:
            statements.append(statement)
        else:
            statements[place] = statement


def _numbered(arguments: Mapping[str, Json], name: str) -> Iterator[tuple[int, str]]:
    return ((n, str(text)) for n, text in enumerate(json_items(arguments.get(name))) if text)


def _parsed(text: str, what: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise _wrong(f"{what}: {error}") from None
    if not isinstance(document, dict):
        raise _wrong(f"{what}: must be an object")
    statements = document.get("Statement")
    return document | {"Statement": [statements] if isinstance(statements, Mapping) else statements}


def _wrong(text: str) -> CloudError:
    return CloudError("", f"writing IAM Policy Document: {text}")


def _as_list(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


COMPUTED: dict[str, Callable[[CloudView, Mapping[str, Json]], dict[str, Json] | None]] = {
    PARTITION: region_partition,
    ZONES: availability_zones,
    POLICY_DOCUMENT: policy_document,
    aws_owned.IMAGE: aws_owned.image,
    aws_owned.PARAMETER: aws_owned.parameter,
    aws_owned.ALIAS: aws_owned.managed_alias,
    aws_owned.KEY: aws_owned.managed_key,
}
"""By the token of the invoke. An answer of None leaves it to the table's row."""
