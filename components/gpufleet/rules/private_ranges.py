"""IPv4 ranges that are nobody's on the internet: https://www.rfc-editor.org/rfc/rfc1918, .../rfc6598, .../rfc6890."""

from ipaddress import IPv4Network

RFC_1918 = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
CARRIER_GRADE_NAT = IPv4Network("100.64.0.0/10")
DOCUMENTATION = tuple(map(IPv4Network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")))
"""Ranges for examples: https://www.rfc-editor.org/rfc/rfc5737."""
RESERVED = (
    *RFC_1918,
    CARRIER_GRADE_NAT,
    *DOCUMENTATION,
    *map(
        IPv4Network,
        ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"),
    ),
)
"""Ranges that no client on the internet has: https://www.iana.org/assignments/iana-ipv4-special-registry."""
