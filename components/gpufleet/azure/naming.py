"""Logical names of resources whose automatic names in Azure may have lower-case letters and digits only."""

import hashlib

RANDOM = 8
"""Hexadecimal characters that azure-native appends to a logical name to make the name in Azure."""
_DIGEST = 6


def legal_name(name: str, longest: int) -> str:
    """A logical name for a child of the component `name`, such that name and random end are legal in Azure.

    longest: characters that Azure allows, the random end included; 24 for storage and Batch accounts, 50 for
    registries. Capitals become small, all but letters and digits goes. What does not fit is cut, and ends in a digest
    of the whole, so that two long names that begin alike stay two.
    """
    room = longest - RANDOM
    short = "".join(each for each in name.lower() if each.isascii() and each.isalnum())
    if short and len(short) <= room:
        return short
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{short[: room - _DIGEST]}{digest}"
