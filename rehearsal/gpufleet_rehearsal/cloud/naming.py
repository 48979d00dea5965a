"""The names that a provider makes of the logical name where the program gives none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.table.cloud_rows import CloudRow
from gpufleet_rehearsal.table.model import Autoname
from gpufleet_rehearsal.table.paths import Json
from gpufleet_rehearsal.table.templates import generated, generated_uuid, parse_template

SUFFIX_OF_PREFIX = 26
"""Characters that a provider of the Terraform bridge puts behind a prefix: 18 digits of the time and 8 of a counter.

Source: github.com/hashicorp/terraform-plugin-sdk, helper/id (UniqueIDSuffixLength).
"""
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def generated_name(auto: Autoname, cloud: CloudRow, type_: str, name: str, *of: object) -> str:
    """The name for a resource of this type and logical name: always the same one for the same `of`.

    Errors: CloudError, in the provider's words, where logical name and suffix are longer than the provider makes names.
    Source of the words: pulumi/pulumi, sdk/go/common/resource (NewUniqueName); pulumi/pulumi-terraform-bridge,
    pkg/tfbridge/info/autonaming.go. What the service allows besides, the checks of inputs know.
    """
    if auto.kind == "copy":
        return name
    if auto.kind == "uuid":
        return generated_uuid(*of)
    before, length = _suffix(cloud)
    prefix, most = _prefix(auto, name, before), auto.max or cloud.longest_name
    if most is not None and len(prefix) + length > most:
        raise CloudError(
            "",
            f"could not make instance of '{type_}': name '{prefix}' plus {length} random chars is longer than maximum "
            f"length {most}",
        )
    return f"{prefix}{generated('hex', length, *of)}"


def ending_of(auto: Autoname, inputs: Mapping[str, Json]) -> str:
    """What the provider puts behind a name that it made, by the flags among the inputs."""
    return "".join(ending for flag, ending in auto.endings.items() if inputs.get(flag) is True)


def name_pattern(auto: Autoname, cloud: CloudRow, name: str) -> re.Pattern[str]:
    """What a name looks like that was made at random; a copy of the logical name never was."""
    if auto.kind == "copy":
        return re.compile("(?!)")
    if auto.kind == "uuid":
        return _UUID
    before, length = _suffix(cloud)
    endings = "".join(f"({re.escape(ending)})?" for ending in auto.endings.values())
    return re.compile(f"{re.escape(_prefix(auto, name, before))}[0-9a-f]{{{length}}}{endings}")


def prefix_of(auto: Autoname | None, inputs: Mapping[str, Json]) -> str | None:
    """What the program says that the name begins with (bucketPrefix, namePrefix), where it gives no name itself."""
    prefix = inputs.get(f"{auto.property}Prefix") if auto is not None and auto.property not in inputs else None
    return prefix if isinstance(prefix, str) else None


def name_of_prefix(prefix: str, *of: object) -> str:
    """The name that the cloud's resource gets, once it is made: another one for each `of`."""
    return f"{prefix}{generated('digits', 18, *of)}00000001"


def _prefix(auto: Autoname, name: str, before: str) -> str:
    """What stands before the random characters. before: what separates them from the logical name."""
    stem = name.lower() if auto.lower else name
    return ("" if stem.startswith(auto.beginning) else auto.beginning) + stem + before


def _suffix(cloud: CloudRow) -> tuple[str, int]:
    """The text and the number of hexadecimal digits that a cloud's suffix consists of."""
    *before, digits = parse_template(cloud.suffix)
    if not isinstance(digits, tuple) or digits[0] != "hex":
        raise ValueError(f"{cloud.suffix}: a suffix ends with {{hex:<digits>}}")
    return "".join(map(str, before)), digits[1]
