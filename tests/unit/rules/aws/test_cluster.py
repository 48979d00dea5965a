"""Cases of gpufleet.rules.aws.cluster."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.aws.cluster import (
    cidr_public,
    public_limited,
    some_endpoint,
    supported_to_the_end,
    two_zones,
    validate_control_zones,
    validate_version,
    version_legal,
    version_offered,
    zone_accepted,
    zone_of_network,
)

SUPPORT = {"version": "1.35", "until": "2027-03-27", "support": "STANDARD", "others": (), "extra_usd": 0.5}

CASES = {
    two_zones: [
        ("two", {"zones": ("use1-az1", "use1-az2")}, "pass", ""),
        (
            "one",
            {"zones": ("use1-az1",)},
            "fail",
            (
                "trainers: subnet_ids=[use1-az1]: EKS requires its control plane in two zones; add a subnet in a "
                "second zone; nodes may still lie in one [aws-cluster-two-zones]"
            ),
        ),
        (
            "one-twice",
            {"zones": ("use1-az1", "use1-az1")},
            "fail",
            (
                "trainers: subnet_ids=[use1-az1, use1-az1]: EKS requires its control plane in two zones; add a subnet "
                "in a second zone; nodes may still lie in one [aws-cluster-two-zones]"
            ),
        ),
        (
            "one-and-one-that-eks-refuses",
            {"zones": ("use1-az1",), "argument": "zones", "left_out": ("use1-az3",)},
            "fail",
            (
                "trainers: zones=[use1-az1]: EKS requires its control plane in two zones and places none in use1-az3; "
                "add "
                "a second zone to the network; nodes may still lie in one [aws-cluster-two-zones]"
            ),
        ),
    ],
    zone_of_network: [
        ("inside", {"zone": "use1-az2", "network": ("use1-az1", "use1-az2")}, "pass", ""),
        (
            "outside",
            {"zone": "use1-az4", "network": ("use1-az1", "use1-az2")},
            "fail",
            (
                "trainers: zones=use1-az4: is not a zone of the network; add it to network.zones, or use use1-az1 or "
                "use1-az2 [aws-cluster-zone-of-network]"
            ),
        ),
    ],
    zone_accepted: [
        ("accepted", {"zone": "use1-az1", "accepted": True, "others": ("use1-az1",)}, "pass", ""),
        (
            "refused",
            {"zone": "use1-az3", "accepted": False, "others": ("use1-az1", "use1-az2")},
            "fail",
            (
                "trainers: subnet_ids=use1-az3: EKS does not place control planes in this zone; use use1-az1 or "
                "use1-az2; "
                "nodes may lie in it [aws-cluster-zone-accepted]"
            ),
        ),
        (
            "unknown",
            {"zone": "xxn9-az1", "accepted": None, "others": ()},
            "unverified",
            (
                "trainers: subnet_ids=xxn9-az1: not verified: the catalog does not know whether EKS accepts this "
                "zone; ask aws ec2 describe-availability-zones [aws-cluster-zone-accepted]"
            ),
        ),
    ],
    version_legal: [
        ("minor", {"version": "1.34"}, "pass", ""),
        (
            "patch",
            {"version": "1.34.1"},
            "fail",
            (
                "trainers: version=1.34.1: is not a Kubernetes version of EKS; give major.minor in quotes, such as "
                '"1.34" [aws-cluster-version]'
            ),
        ),
        (
            "lost-zero",
            {"version": "1.3"},
            "fail",
            (
                "trainers: version=1.3: is not a Kubernetes version of EKS; give major.minor in quotes, such as "
                '"1.34" [aws-cluster-version]'
            ),
        ),
        (
            "prefixed",
            {"version": "v1.34"},
            "fail",
            (
                "trainers: version=v1.34: is not a Kubernetes version of EKS; give major.minor in quotes, such as "
                '"1.34" [aws-cluster-version]'
            ),
        ),
    ],
    version_offered: [
        ("offered", {"version": "1.35", "offered": True, "others": ("1.35",)}, "pass", ""),
        (
            "gone",
            {"version": "1.28", "offered": False, "others": ("1.35", "1.36")},
            "fail",
            "trainers: version=1.28: EKS makes no cluster with it; use 1.35 or 1.36 [aws-cluster-version-offered]",
        ),
        (
            "perhaps-since",
            {"version": "1.37", "offered": None, "others": ("1.35", "1.36")},
            "unverified",
            (
                "trainers: version=1.37: not verified: the catalog does not know whether EKS offers it; ask aws eks "
                "describe-cluster-versions, or use 1.35 or 1.36 [aws-cluster-version-offered]"
            ),
        ),
    ],
    supported_to_the_end: [
        ("to-the-day", {**SUPPORT, "expires": "2027-03-27"}, "pass", ""),
        (
            "a-day-less",
            {**SUPPORT, "expires": "2027-03-28", "others": ("1.36",)},
            "fail",
            (
                "trainers: version=1.35: standard support ends on 2027-03-27, before the environment does on "
                "2027-03-28; from then on EKS upgrades the control plane, and no nodes; use 1.36 "
                "[aws-cluster-version-supported]"
            ),
        ),
        (
            "extended-without-another",
            {**SUPPORT, "expires": "2027-12-31", "support": "EXTENDED"},
            "fail",
            (
                "trainers: version=1.35: standard support ends on 2027-03-27, before the environment does on "
                "2027-12-31; from then on the cluster costs 0.50 USD an hour more; raise it by then, one minor version "
                "at a time; no version lasts so long yet [aws-cluster-version-supported]"
            ),
        ),
        (
            "extended-at-an-unknown-price",
            {**SUPPORT, "expires": "2027-12-31", "support": "EXTENDED", "others": ("1.36",), "extra_usd": None},
            "fail",
            (
                "trainers: version=1.35: standard support ends on 2027-03-27, before the environment does on "
                "2027-12-31; from then on the cluster costs more; use 1.36 [aws-cluster-version-supported]"
            ),
        ),
    ],
    some_endpoint: [
        ("private", {"private": True, "public": False}, "pass", ""),
        ("public", {"private": False, "public": True}, "pass", ""),
        (
            "none",
            {"private": False, "public": False},
            "fail",
            (
                "trainers: private_endpoint=false: leaves the cluster without an endpoint; set "
                "private_endpoint=true [aws-cluster-endpoint]"
            ),
        ),
    ],
    public_limited: [
        ("listed", {"public": True, "cidrs": ("203.0.113.0/24",)}, "pass", ""),
        (
            "unlisted",
            {"public": True, "cidrs": ()},
            "fail",
            (
                "trainers: public_access_cidrs=[]: opens the endpoint to everybody, as EKS does without a list; "
                "list the ranges that you work from, such as 203.0.113.0/24, or keep the endpoint private "
                "[aws-cluster-public-cidrs]"
            ),
        ),
        (
            "everybody",
            {"public": True, "cidrs": ("203.0.113.0/24", "0.0.0.0/0")},
            "fail",
            (
                "trainers: public_access_cidrs=[203.0.113.0/24, 0.0.0.0/0]: opens the endpoint to everybody; list "
                "the ranges that you work from, such as 203.0.113.0/24, or keep the endpoint private "
                "[aws-cluster-public-cidrs]"
            ),
        ),
        ("private", {"public": False, "cidrs": ()}, "pass", ""),
    ],
    cidr_public: [
        ("public", {"cidr": "52.94.76.7/32"}, "pass", ""),
        ("beside-a-reserved-one", {"cidr": "198.51.101.0/24"}, "pass", ""),
        (
            "of-documentation",
            {"cidr": "198.51.100.0/24"},
            "fail",
            (
                "trainers: public_access_cidrs=198.51.100.0/24: is a reserved range, which EKS rejects here; give the "
                "address that the internet sees: curl https://checkip.amazonaws.com [aws-cluster-public-cidr]"
            ),
        ),
        (
            "private",
            {"cidr": "10.1.0.0/16"},
            "fail",
            (
                "trainers: public_access_cidrs=10.1.0.0/16: is a private range, which EKS rejects here; leave it "
                "out: inside the VPC the private endpoint answers [aws-cluster-public-cidr]"
            ),
        ),
        (
            "host-bits",
            {"cidr": "203.0.113.7/24"},
            "fail",
            (
                "trainers: public_access_cidrs=203.0.113.7/24: is not an IPv4 range; use one such as 203.0.113.0/24 "
                "[aws-cluster-public-cidr]"
            ),
        ),
        (
            "ipv6",
            {"cidr": "2001:db8::/32"},
            "fail",
            (
                "trainers: public_access_cidrs=2001:db8::/32: is not an IPv4 range; use one such as 203.0.113.0/24 "
                "[aws-cluster-public-cidr]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


def test_control_zones_are_judged_one_by_one():
    findings = validate_control_zones(["use1-az1", "use1-az9"], ["use1-az1"])
    assert [finding.status for finding in findings] == ["pass", "fail"]


OFFERED = "1.31, 1.32, 1.33, 1.34, 1.35 or 1.36"


@pytest.mark.parametrize(
    ("version", "lines"),
    [
        ("1.30", [f"eks: version=1.30: EKS makes no cluster with it; use {OFFERED} [aws-cluster-version-offered]"]),
        ("1.31", []),
        ("1.36", []),
        (
            "1.39",
            [
                "eks: version=1.39: not verified: the catalog does not know whether EKS offers it; ask aws eks "
                f"describe-cluster-versions, or use {OFFERED} [aws-cluster-version-offered]"
            ],
        ),
        ("1.40", [f"eks: version=1.40: EKS makes no cluster with it; use {OFFERED} [aws-cluster-version-offered]"]),
        ("1.99", [f"eks: version=1.99: EKS makes no cluster with it; use {OFFERED} [aws-cluster-version-offered]"]),
    ],
)
def test_versions_of_the_catalog(version, lines):
    findings = validate_version(version, "us-east-1", "STANDARD", "never")
    assert [finding.line("eks") for finding in findings if finding.status is not Status.PASS] == lines


@pytest.mark.parametrize(
    ("version", "support", "expires", "line"),
    [
        ("1.35", "STANDARD", "2027-03-27", None),
        ("1.35", "STANDARD", "150h", None),
        (
            "1.35",
            "EXTENDED",
            "2027-08-02",
            "eks: version=1.35: standard support ends on 2027-03-27, before the environment does on 2027-08-02; from "
            "then on the cluster costs 0.50 USD an hour more; use 1.36 [aws-cluster-version-supported]",
        ),
    ],
)
def test_support_of_an_environment_with_an_end(version, support, expires, line):
    found = validate_version(version, "us-east-1", support, expires)
    assert [each.line("eks") for each in found if each.status is not Status.PASS] == ([line] if line else [])
