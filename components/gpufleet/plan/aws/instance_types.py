"""Instance types as programs write them on AWS: exact names, and families where AWS Batch takes those."""

import re

from gpufleet.catalog import aws

_GPU_FAMILY = re.compile(r"(p|g)\d+[a-z0-9-]*")
"""How EC2 calls its families with GPUs."""


def has_gpus(types: object) -> bool | None:
    """Whether any of the types has GPUs; None where the types are not known.

    Also None if only a name suggests it, of a family that the catalog lacks. A type that the catalog lacks, of a family
    that it has, counts as one with GPUs: it is most likely a typing error, which a rule reports.
    """
    if not isinstance(types, list):
        return None
    if any(name in aws().types for name in types):
        return True
    families = {name.split(".")[0] for name in aws().types}
    if any(name.split(".")[0] in families for name in types):
        return True
    return None if any(_GPU_FAMILY.fullmatch(name.split(".")[0]) for name in types) else False


def of_family(name: str) -> list[str]:
    """The GPU types that a word of AWS Batch stands for: those of a family, or the one of that name."""
    if "." in name:
        return [name]
    current = [record for record in aws().types.values() if record.type.split(".")[0] == name and not record.retired]
    return [each.type for each in sorted(current, key=lambda each: (each.vcpus, each.type))] or [name]
