"""Cases of gpufleet.rules.aws.remote_networks, and of its validation."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.aws.remote_networks import (
    few_ranges,
    mode_with_entries,
    one_endpoint,
    public_only,
    range_legal,
    range_private,
    ranges_apart,
    validate_joined_cluster,
    validate_remote_networks,
)

NODES = "remote_networks.nodes"
PRIVATE = "use a range of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"

CASES = {
    range_legal: [
        ("usual", {"argument": NODES, "cidr": "10.80.0.0/24"}, "pass", ""),
        ("one-server", {"argument": NODES, "cidr": "10.80.0.7/32"}, "pass", ""),
        ("greatest", {"argument": NODES, "cidr": "10.0.0.0/8"}, "pass", ""),
        (
            "too-great",
            {"argument": NODES, "cidr": "10.0.0.0/7"},
            "fail",
            f"trainers: {NODES}=10.0.0.0/7: is larger than the /8 that EKS allows; use one such as 10.80.0.0/16 "
            "[aws-hybrid-range]",
        ),
        (
            "no-range",
            {"argument": NODES, "cidr": "the lab"},
            "fail",
            f"trainers: {NODES}=the lab: is not an IPv4 range; use one such as 10.80.0.0/16 [aws-hybrid-range]",
        ),
        (
            "ipv6",
            {"argument": NODES, "cidr": "fd00::/64"},
            "fail",
            f"trainers: {NODES}=fd00::/64: is IPv6, which hybrid nodes do not have; use one such as 10.80.0.0/16 "
            "[aws-hybrid-range]",
        ),
        (
            "host-bits",
            {"argument": NODES, "cidr": "10.80.0.7/24"},
            "fail",
            f"trainers: {NODES}=10.80.0.7/24: does not begin where its prefix says; use 10.80.0.0/24 "
            "[aws-hybrid-range]",
        ),
    ],
    range_private: [
        ("ten", {"argument": NODES, "cidr": "10.80.0.0/24"}, "pass", ""),
        ("last-of-172", {"argument": NODES, "cidr": "172.31.255.0/24"}, "pass", ""),
        (
            "beyond-172",
            {"argument": NODES, "cidr": "172.32.0.0/24"},
            "fail",
            f"trainers: {NODES}=172.32.0.0/24: is not a private range, which EKS requires here; {PRIVATE} "
            "[aws-hybrid-range-private]",
        ),
        (
            "carrier",
            {"argument": NODES, "cidr": "100.64.0.0/16"},
            "unverified",
            f"trainers: {NODES}=100.64.0.0/16: not verified: AWS's pages do not agree on whether EKS accepts "
            f"carrier-grade NAT here; {PRIVATE} [aws-hybrid-range-private]",
        ),
    ],
    ranges_apart: [
        (
            "neighbours",
            {"argument": NODES, "cidr": "10.80.0.0/24", "other": "vpc_cidr", "other_cidr": "10.80.1.0/24"},
            "pass",
            "",
        ),
        (
            "inside",
            {"argument": NODES, "cidr": "10.0.5.0/24", "other": "vpc_cidr", "other_cidr": "10.0.0.0/16"},
            "fail",
            f"trainers: {NODES}=10.0.5.0/24: overlaps vpc_cidr=10.0.0.0/16; give each its own range "
            "[aws-hybrid-ranges-apart]",
        ),
        (
            "maybe",
            {
                "argument": NODES,
                "cidr": "10.100.5.0/24",
                "other": "service_cidr",
                "other_cidr": "10.100.0.0/16",
                "sure": False,
            },
            "unverified",
            f"trainers: {NODES}=10.100.5.0/24: not verified: overlaps service_cidr=10.100.0.0/16, which EKS may "
            "choose; use another range [aws-hybrid-ranges-apart]",
        ),
    ],
    few_ranges: [
        ("fifteen", {"argument": NODES, "count": 15}, "pass", ""),
        (
            "sixteen",
            {"argument": NODES, "count": 16},
            "fail",
            f"trainers: {NODES}=16: is more ranges than the 15 that EKS allows; join neighbours to one "
            "[aws-hybrid-ranges-few]",
        ),
    ],
    one_endpoint: [
        ("private", {"private": True, "public": False}, "pass", ""),
        ("public", {"private": False, "public": True}, "pass", ""),
        (
            "both",
            {"private": True, "public": True},
            "fail",
            "trainers: public_access_cidrs=given: opens a public endpoint beside the private one, and own servers then "
            "never find the private one; leave public_access_cidrs out and deploy from inside of the VPC or the site, "
            "or set private_endpoint=false [aws-hybrid-endpoint]",
        ),
    ],
    public_only: [
        ("private", {"private": True, "cidrs": ()}, "pass", ""),
        (
            "public",
            {"private": False, "cidrs": ("203.0.113.7/32",)},
            "unverified",
            "trainers: public_access_cidrs=[203.0.113.7/32]: not verified: whether the VPC's NAT and the site's own "
            "way out are in them is not known; nodes outside never join; list the public addresses of both, each as a "
            "/32 [aws-hybrid-endpoint-way-out]",
        ),
    ],
    mode_with_entries: [
        ("entries", {"mode": "API"}, "pass", ""),
        ("both", {"mode": "API_AND_CONFIG_MAP"}, "pass", ""),
        (
            "map",
            {"mode": "CONFIG_MAP"},
            "fail",
            "trainers: authentication_mode=CONFIG_MAP: is an authentication mode without access entries, by which own "
            "servers are known; use API or API_AND_CONFIG_MAP [aws-hybrid-authentication]",
        ),
    ],
}

GOOD = {"remote_networks": {"nodes": ["10.80.0.0/24"], "pods": ["10.81.0.0/16"]}, "vpc_cidr": "10.0.0.0/16"}


def lines(findings):
    return [finding.line("own") for finding in findings if finding.status is not Status.PASS]


def test_nothing_is_judged_without_own_servers():
    assert (
        validate_remote_networks({"vpc_cidr": "10.0.0.0/16"})
        == validate_joined_cluster({"private_endpoint": False})
        == []
    )


def test_networks_of_their_own_pass():
    assert lines(validate_joined_cluster(GOOD | {"service_cidr": "172.20.0.0/16"})) == []


@pytest.mark.parametrize(
    ("nodes", "pods", "more", "said"),
    [
        (
            ["10.80.0.0/24"],
            ["10.80.0.128/25"],
            {},
            ["pods=10.80.0.128/25: overlaps remote_networks.nodes=10.80.0.0/24"],
        ),
        (["10.80.0.0/24", "10.80.0.0/25"], [], {}, ["nodes=10.80.0.0/25: overlaps remote_networks.nodes=10.80.0.0/24"]),
        (["10.0.9.0/24"], [], {}, ["nodes=10.0.9.0/24: overlaps vpc_cidr=10.0.0.0/16"]),
        (["10.80.0.0/24"], ["10.0.0.0/12"], {}, ["pods=10.0.0.0/12: overlaps vpc_cidr=10.0.0.0/16"]),
        (
            ["192.168.3.0/24"],
            ["192.168.64.0/18"],
            {"service_cidr": "192.168.0.0/18"},
            ["nodes=192.168.3.0/24: overlaps service_cidr=192.168.0.0/18"],
        ),
        (["172.20.1.0/24"], [], {}, ["nodes=172.20.1.0/24: not verified: overlaps service_cidr=172.20.0.0/16"]),
        ([], [], {}, ["nodes=[]: is empty; give at least one range"]),
        (["10.80.0.0"], ["8.8.8.0/24"], {}, ["nodes=10.80.0.0: does not", "pods=8.8.8.0/24: is not a private range"]),
    ],
)
def test_each_pair_that_overlaps_is_named(nodes, pods, more, said):
    found = lines(validate_remote_networks(GOOD | {"remote_networks": {"nodes": nodes, "pods": pods}} | more))
    assert len(found) == len(said), found
    assert all(line.startswith(f"own: remote_networks.{begin}") for line, begin in zip(found, said, strict=True)), found


def test_a_range_of_the_vpc_that_is_none_is_left_to_the_network():
    assert lines(validate_remote_networks(GOOD | {"vpc_cidr": "the office"})) == []


def test_case(case):
    case.check()
