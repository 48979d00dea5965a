"""Checks names that providers make of logical names: a preview says what is too long, and how to shorten it."""

from collections.abc import Callable, Mapping
from typing import Any

import pulumi

from gpufleet.catalog import Catalog, aws, azure
from gpufleet.rules.names import validate_automatic_name
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.validation import validate_stack

_CATALOGS: Mapping[str, Callable[[], Catalog[Any]]] = {"aws": aws, "azure-native": azure}
"""By the package of a type."""


def check_automatic_name(args: pulumi.ResourceTransformationArgs) -> None:
    """A transformation that changes nothing: of a resource without its own name, it checks the one to come.

    Errors: as of `gpufleet.validation.validate_stack`.
    """
    catalog = _CATALOGS.get(args.type_.partition(":")[0])
    record = catalog().automatic_names.get(args.type_) if catalog else None
    if record is None or args.opts.import_ or args.opts.id:
        return
    given = {key.replace("_", "").lower() for key, value in args.props.items() if value is not None}
    name = record.property.lower()
    if given & {name, f"{name}prefix"}:
        return
    kind = args.type_.rpartition(":")[2]
    findings = validate_automatic_name(kind, args.name, record.longest, pulumi.get_stack())
    validate_stack(ResourceFinding(args.name, each) for each in findings)
