"""The region in which the provider of a component creates resources."""

import os
from collections.abc import Mapping
from typing import Any

import pulumi

_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""What the provider of AWS reads without aws:region, the first one first.

Source: https://www.pulumi.com/registry/packages/aws/installation-configuration/."""


def provider_region(opts: pulumi.ResourceOptions | None) -> str | None:
    """The region of the default provider of AWS; None if it is not known.

    So it is under a provider that the program creates: its region is an output, which may be computed.
    """
    if _has_own_provider(opts):
        return None
    return pulumi.Config("aws").get("region") or next(filter(None, map(os.environ.get, _VARIABLES)), None)


def _has_own_provider(opts: pulumi.ResourceOptions | None) -> bool:
    if opts is None:
        return False
    given: Any = opts.providers or ()
    listed = [opts.provider, *(given.values() if isinstance(given, Mapping) else given)]
    inherited: Mapping[str, object] = getattr(opts.parent, "_providers", {})
    return "aws" in inherited or any(each is not None and each.package == "aws" for each in listed)
