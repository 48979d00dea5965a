"""Cases of gpufleet.rules.site_link."""

from gpufleet.rules.site_link import (
    argument_of_kind,
    asn_legal,
    existing_or_new,
    kind_needs,
    public_address,
    range_legal,
    ranges_apart,
    rate_enough,
    routed_one_way,
    static_covers,
)

CASES = {
    range_legal: [
        ("widest", {"argument": "site_cidrs", "cidr": "10.0.0.0/8"}, "pass", ""),
        ("one-host", {"argument": "site_cidrs", "cidr": "192.168.1.7/32"}, "pass", ""),
        (
            "too-wide",
            {"argument": "site_cidrs", "cidr": "10.0.0.0/7"},
            "fail",
            (
                "trainers: site_cidrs=10.0.0.0/7: is not an IPv4 range of /8 to /32; use one such as 192.168.10.0/24 "
                "[any-link-range]"
            ),
        ),
        (
            "everything",
            {"argument": "static_routes", "cidr": "0.0.0.0/0"},
            "fail",
            (
                "trainers: static_routes=0.0.0.0/0: is not an IPv4 range of /8 to /32; use one such as 192.168.10.0/24 "
                "[any-link-range]"
            ),
        ),
        (
            "host-bits",
            {"argument": "site_cidrs", "cidr": "192.168.1.7/24"},
            "fail",
            (
                "trainers: site_cidrs=192.168.1.7/24: does not begin where its prefix says; use 192.168.1.0/24 "
                "[any-link-range]"
            ),
        ),
        (
            "no-prefix",
            {"argument": "site_cidrs", "cidr": "192.168.1.0"},
            "fail",
            (
                "trainers: site_cidrs=192.168.1.0: is not an IPv4 range of /8 to /32; use one such as 192.168.10.0/24 "
                "[any-link-range]"
            ),
        ),
        (
            "ipv6",
            {"argument": "site_cidrs", "cidr": "fd00::/8"},
            "fail",
            (
                "trainers: site_cidrs=fd00::/8: is not an IPv4 range of /8 to /32; use one such as 192.168.10.0/24 "
                "[any-link-range]"
            ),
        ),
        (
            "nothing",
            {"argument": "vpc_cidr", "cidr": ""},
            "fail",
            (
                "trainers: vpc_cidr='': is not an IPv4 range of /8 to /32; use one such as 192.168.10.0/24 "
                "[any-link-range]"
            ),
        ),
    ],
    ranges_apart: [
        (
            "apart",
            {"argument": "site_cidrs", "cidr": "10.1.0.0/16", "other": "10.0.0.0/16", "whose": "the VPC's"},
            "pass",
            "",
        ),
        (
            "inside",
            {"argument": "site_cidrs", "cidr": "10.0.255.0/24", "other": "10.0.0.0/16", "whose": "the VPC's"},
            "fail",
            (
                "trainers: site_cidrs=10.0.255.0/24: overlaps 10.0.0.0/16, which is the VPC's, so that packets to it "
                "never reach the line; give one of the two networks another range [any-link-overlap]"
            ),
        ),
        (
            "around",
            {"argument": "site_cidrs", "cidr": "10.0.0.0/8", "other": "10.0.0.0/16", "whose": "the VPC's"},
            "fail",
            (
                "trainers: site_cidrs=10.0.0.0/8: overlaps 10.0.0.0/16, which is the VPC's, so that packets to it "
                "never reach the line; give one of the two networks another range [any-link-overlap]"
            ),
        ),
        (
            "no-range",
            {"argument": "site_cidrs", "cidr": "here", "other": "10.0.0.0/16", "whose": "the VPC's"},
            "pass",
            "",
        ),
    ],
    public_address: [
        ("public", {"address": "8.8.8.8"}, "pass", ""),
        ("of-documentation", {"address": "203.0.113.7"}, "pass", ""),
        ("next-to-private", {"address": "172.32.0.1"}, "pass", ""),
        (
            "private",
            {"address": "172.31.255.255"},
            "fail",
            (
                "trainers: customer_address=172.31.255.255: is not reachable from the internet; use the public "
                "address of the VPN device, or of the NAT that it is behind [any-link-public-address]"
            ),
        ),
        (
            "carrier-nat",
            {"address": "100.64.0.1"},
            "fail",
            (
                "trainers: customer_address=100.64.0.1: is not reachable from the internet; use the public address of"
                " the VPN device, or of the NAT that it is behind [any-link-public-address]"
            ),
        ),
        (
            "multicast",
            {"address": "224.0.0.1"},
            "fail",
            (
                "trainers: customer_address=224.0.0.1: is not reachable from the internet; use the public address of "
                "the VPN device, or of the NAT that it is behind [any-link-public-address]"
            ),
        ),
        (
            "a-range",
            {"address": "8.8.8.0/24"},
            "fail",
            (
                "trainers: customer_address=8.8.8.0/24: is not an IPv4 address; use the public one of the own VPN "
                "device "
                "[any-link-public-address]"
            ),
        ),
        (
            "a-name",
            {"address": "vpn.example.com"},
            "fail",
            (
                "trainers: customer_address=vpn.example.com: is not an IPv4 address; use the public one of the own VPN "
                "device [any-link-public-address]"
            ),
        ),
    ],
    asn_legal: [
        ("first-private", {"argument": "customer_asn", "asn": 64512, "other": 65515, "reserved": [7224]}, "pass", ""),
        ("last-private", {"argument": "customer_asn", "asn": 65534, "other": 64512, "reserved": [7224]}, "pass", ""),
        (
            "large-private",
            {"argument": "customer_asn", "asn": 4294967294, "other": 64512, "reserved": [7224]},
            "pass",
            "",
        ),
        (
            "zero",
            {"argument": "customer_asn", "asn": 0, "other": 64512, "reserved": [7224]},
            "fail",
            (
                "trainers: customer_asn=0: is not a BGP ASN; use one that is private to you, 64512 to "
                "65534, for instance 65010 [any-link-asn]"
            ),
        ),
        (
            "last-of-16-bit",
            {"argument": "customer_asn", "asn": 65535, "other": 64512, "reserved": [7224]},
            "fail",
            (
                "trainers: customer_asn=65535: is not a BGP ASN; use one that is private to you, 64512 "
                "to 65534, for instance 65010 [any-link-asn]"
            ),
        ),
        (
            "too-large",
            {"argument": "customer_asn", "asn": 4294967296, "other": 64512, "reserved": [7224]},
            "fail",
            (
                "trainers: customer_asn=4294967296: is not a BGP ASN; use one that is private to you, "
                "64512 to 65534, for instance 65010 [any-link-asn]"
            ),
        ),
        (
            "the-clouds",
            {"argument": "customer_asn", "asn": 7224, "other": 64512, "reserved": [7224]},
            "fail",
            (
                "trainers: customer_asn=7224: is reserved by the cloud; use one that is private to you, 64512 to "
                "65534, for instance 65010 [any-link-asn]"
            ),
        ),
        (
            "both-the-same",
            {"argument": "customer_asn", "asn": 65010, "other": 65010, "reserved": [7224]},
            "fail",
            (
                "trainers: customer_asn=65010: is the number of the cloud's end, too; use one that is private to you,"
                " 64512 to 65534, for instance 65010 [any-link-asn]"
            ),
        ),
        (
            "public",
            {"argument": "customer_asn", "asn": 64511, "other": 64512, "reserved": [7224]},
            "unverified",
            (
                "trainers: customer_asn=64511: not verified: is a public number, and nothing here says that it is "
                "yours; use one that is private to you, 64512 to 65534, for instance 65010 [any-link-asn]"
            ),
        ),
    ],
    routed_one_way: [
        ("bgp", {"bgp": True, "static": False}, "pass", ""),
        ("static", {"bgp": False, "static": True}, "pass", ""),
        (
            "both",
            {"bgp": True, "static": True},
            "fail",
            (
                "trainers: static_routes=given: are static routes, and customer_asn says BGP; remove static_routes, "
                "or customer_asn [any-link-routing]"
            ),
        ),
        (
            "neither",
            {"bgp": False, "static": False},
            "fail",
            (
                "trainers: customer_asn=null: is not given, nor are static_routes: no route to the other end would "
                "exist; give customer_asn for BGP, or static_routes [any-link-routing]"
            ),
        ),
    ],
    argument_of_kind: [
        ("its-own", {"kind": "vpn", "argument": "customer_asn", "of": "vpn"}, "pass", ""),
        (
            "the-others",
            {"kind": "direct-connect", "argument": "customer_asn", "of": "vpn"},
            "fail",
            (
                "trainers: customer_asn=given: belongs to kind=vpn, and this line is kind=direct-connect; remove it, "
                "or use vpn [any-link-of-kind]"
            ),
        ),
    ],
    kind_needs: [
        (
            "given",
            {"kind": "vpn", "argument": "customer_address", "given": True, "what": "the device's address"},
            "pass",
            "",
        ),
        (
            "not-given",
            {"kind": "vpn", "argument": "customer_address", "given": False, "what": "the device's address"},
            "fail",
            (
                "trainers: customer_address=null: is not given, and kind=vpn needs the device's address; give "
                "customer_address [any-link-needs]"
            ),
        ),
    ],
    existing_or_new: [
        ("new", {"argument": "gateway_asn", "existing": ""}, "pass", ""),
        (
            "existing",
            {"argument": "gateway_asn", "existing": "vpn_gateway_id"},
            "fail",
            (
                "trainers: gateway_asn=given: shapes what vpn_gateway_id says is there already; remove it, or "
                "vpn_gateway_id [any-link-existing]"
            ),
        ),
    ],
    rate_enough: [
        ("enough", {"argument": "gbps", "value": 10, "gbps": 10, "line": "the connection"}, "pass", ""),
        (
            "just-below",
            {"argument": "gbps", "value": 9.9, "gbps": 9.9, "line": "the connection"},
            "fail",
            (
                "trainers: gbps=9.9: the connection carries 9.9 Gbit/s at most, so 100 GB take 81 s or more, for all "
                "jobs; sync the data to where the GPUs are before the job, or use a line of 10 Gbit/s [any-link-rate]"
            ),
        ),
        (
            "a-tunnel",
            {"argument": "kind", "value": "vpn", "gbps": 1.25, "line": "a VPN tunnel"},
            "fail",
            (
                "trainers: kind=vpn: a VPN tunnel carries 1.25 Gbit/s at most, so 100 GB take 640 s or more, for all "
                "jobs; sync the data to where the GPUs are before the job, or use a line of 10 Gbit/s [any-link-rate]"
            ),
        ),
        (
            "slow",
            {"argument": "gbps", "value": 0.05, "gbps": 0.05, "line": "the connection"},
            "fail",
            (
                "trainers: gbps=0.05: the connection carries 0.05 Gbit/s at most, so 100 GB take 16,000 s or more, "
                "for all jobs; sync the data to where the GPUs are before the job, or use a line of 10 Gbit/s "
                "[any-link-rate]"
            ),
        ),
        (
            "unsaid",
            {"argument": "gbps", "value": None, "gbps": None, "line": "the connection"},
            "unverified",
            (
                "trainers: gbps=null: not verified: nothing says how fast the connection is; give its Gbit/s, for an "
                "estimate of time [any-link-rate]"
            ),
        ),
    ],
    static_covers: [
        ("the-same", {"cidr": "192.168.0.0/24", "routes": ["192.168.0.0/24"]}, "pass", ""),
        ("inside", {"cidr": "192.168.9.0/24", "routes": ["10.0.0.0/8", "192.168.0.0/16"]}, "pass", ""),
        (
            "wider",
            {"cidr": "192.168.0.0/15", "routes": ["192.168.0.0/16"]},
            "fail",
            (
                "trainers: site_cidrs=192.168.0.0/15: is in none of static_routes=192.168.0.0/16; add 192.168.0.0/15 "
                "to them [any-link-static-covers]"
            ),
        ),
        ("no-range", {"cidr": "here", "routes": ["192.168.0.0/16"]}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
