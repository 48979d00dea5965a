"""Cases of gpufleet.rules.kubernetes.cilium."""

from gpufleet.rules.kubernetes.cilium import mask_fits

CASES = {
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
