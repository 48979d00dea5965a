"""IPv4 ranges that are nobody's on the internet: https://www.rfc-editor.org/rfc/rfc1918, .../rfc6598."""

from ipaddress import IPv4Network

RFC_1918 = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
CARRIER_GRADE_NAT = IPv4Network("100.64.0.0/10")
