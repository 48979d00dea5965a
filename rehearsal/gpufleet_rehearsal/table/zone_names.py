"""Names and ids of availability zones in the simulated account."""

from __future__ import annotations

import re


def zone_prefix(region: str) -> str:
    """What a region's zone ids begin with: us-east-1 -> use1, ap-northeast-2 -> apne2, us-gov-west-1 -> usgw1."""
    area, *middle, number = region.split("-")
    short = {"northeast": "ne", "northwest": "nw", "southeast": "se", "southwest": "sw"}
    return area + "".join(short.get(word, word[:1]) for word in middle) + number


def zone_area(place: str) -> str:
    """What the zone ids of a region begin with, of the region or a zone of it, by name or id: us-east-1a -> use1.

    Local zones begin so, too: us-west-2-lax-1a and usw2-lax1-az1 -> usw2.
    """
    named = re.match(r"[a-z]{2}(-[a-z]+)+-\d+", place)
    return zone_prefix(named[0]) if named else place.partition("-")[0]


def zone_letter(zone: str) -> str:
    """The letter of a zone id in the simulated account, where az1 is always a, az2 is b (a real account's differ)."""
    return chr(ord("a") + int(zone.rpartition("az")[2]) - 1) if "-az" in zone else zone[-1]


def zone_id(name: str) -> str:
    """The zone id of a name in the simulated account: us-east-1b -> use1-az2; a zone id is itself."""
    return name if "-az" in name else f"{zone_prefix(name[:-1])}-az{ord(name[-1]) - ord('a') + 1}"
