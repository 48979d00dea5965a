"""Cases of gpufleet.rules.kubernetes.cilium."""

from gpufleet.rules.kubernetes.cilium import bgp_number, mask_fits, peer_address

WRONG = "is not a BGP number; use a private one, 64512 to 65534, such as 65020 [any-cilium-asn]"
CASES = {
    bgp_number: [
        ("private", {"argument": "bgp.asn", "asn": 65020}, "pass", ""),
        ("first", {"argument": "bgp.asn", "asn": 1}, "pass", ""),
        ("last", {"argument": "bgp.asn", "asn": 4294967294}, "pass", ""),
        *(
            (f"wrong {asn}", {"argument": "bgp.asn", "asn": asn}, "fail", f"trainers: bgp.asn={asn}: {WRONG}")
            for asn in (0, 23456, 65535, 4294967295)
        ),
    ],
    peer_address: [
        ("router", {"argument": "bgp.peers[0].address", "address": "10.80.0.1"}, "pass", ""),
        *(
            (
                f"wrong {address}",
                {"argument": "bgp.peers[0].address", "address": address},
                "fail",
                f"trainers: bgp.peers[0].address={address}: is not an IPv4 address; use the router's, such as "
                "10.80.0.1 [any-cilium-peer]",
            )
            for address in ("router.lab", "10.80.0.0/24", "fd00::1")
        ),
    ],
    mask_fits: [
        ("usual", {"cidr": "10.81.0.0/16", "mask_size": 25}, "pass", ""),
        ("one-server", {"cidr": "10.81.0.0/25", "mask_size": 25}, "pass", ""),
        ("smallest", {"cidr": "10.81.0.0/16", "mask_size": 29}, "pass", ""),
        (
            "greater-than-the-range",
            {"cidr": "10.81.0.0/26", "mask_size": 25},
            "fail",
            "trainers: mask_size=25: does not give a server's pods a part of 10.81.0.0/26; use 26 to 29, or a "
            "greater range [any-cilium-mask]",
        ),
        (
            "without-addresses",
            {"cidr": "10.81.0.0/16", "mask_size": 30},
            "fail",
            "trainers: mask_size=30: does not give a server's pods a part of 10.81.0.0/16; use 24 to 29, or a "
            "greater range [any-cilium-mask]",
        ),
        (
            "range-without-addresses",
            {"cidr": "10.81.0.0/30", "mask_size": 30},
            "fail",
            "trainers: mask_size=30: does not give a server's pods a part of 10.81.0.0/30; use a greater range, such "
            "as a /16 [any-cilium-mask]",
        ),
    ],
}


def test_case(case):
    case.check()
