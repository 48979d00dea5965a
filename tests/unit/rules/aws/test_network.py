"""Cases of gpufleet.rules.aws.network."""

from gpufleet.rules.aws.network import cidr_legal, cidr_private, services_apart, way_out

CASES = {
    cidr_legal: [
        ("largest", {"cidr": "10.0.0.0/16"}, "pass", ""),
        (
            "too-large",
            {"cidr": "10.0.0.0/15"},
            "fail",
            (
                "trainers: cidr=10.0.0.0/15: is not a range of /16 to /28; use one such as 10.0.0.0/16 "
                "[aws-network-cidr]"
            ),
        ),
        ("smallest", {"cidr": "10.0.0.0/28"}, "pass", ""),
        (
            "too-small",
            {"cidr": "10.0.0.0/29"},
            "fail",
            (
                "trainers: cidr=10.0.0.0/29: is not a range of /16 to /28; use one such as 10.0.0.0/16 "
                "[aws-network-cidr]"
            ),
        ),
        (
            "host-bits",
            {"cidr": "10.0.1.0/16"},
            "fail",
            "trainers: cidr=10.0.1.0/16: does not begin where its prefix says; use 10.0.0.0/16 [aws-network-cidr]",
        ),
        (
            "no-prefix",
            {"cidr": "10.0.0.0"},
            "fail",
            "trainers: cidr=10.0.0.0: is not a range of /16 to /28; use one such as 10.0.0.0/16 [aws-network-cidr]",
        ),
        (
            "ipv6",
            {"cidr": "fd00::/64"},
            "fail",
            "trainers: cidr=fd00::/64: is not an IPv4 range; use one such as 10.0.0.0/16 [aws-network-cidr]",
        ),
        (
            "word",
            {"cidr": "big"},
            "fail",
            "trainers: cidr=big: is not an IPv4 range; use one such as 10.0.0.0/16 [aws-network-cidr]",
        ),
    ],
    cidr_private: [
        ("rfc1918", {"cidr": "172.31.0.0/16"}, "pass", ""),
        ("shared", {"cidr": "100.64.0.0/16"}, "pass", ""),
        (
            "public",
            {"cidr": "172.32.0.0/16"},
            "fail",
            (
                "trainers: cidr=172.32.0.0/16: belongs to others on the internet, whom the nodes then cannot "
                "reach; use a range of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10 "
                "[aws-network-cidr-private]"
            ),
        ),
    ],
    way_out: [
        ("nat", {"nat": "single", "endpoints": ()}, "pass", ""),
        ("endpoints", {"nat": "none", "endpoints": ("ec2", "ecr.api", "ecr.dkr", "eks", "sts")}, "pass", ""),
        (
            "one-missing",
            {"nat": "none", "endpoints": ("ec2", "ecr.api", "ecr.dkr", "eks")},
            "fail",
            (
                "trainers: interface_endpoints=[ec2, ecr.api, ecr.dkr, eks]: without NAT nodes cannot reach sts, "
                "and never join; set nat=single, or give these endpoints too (leave the argument out to get all "
                "that EKS needs) [aws-network-way-out]"
            ),
        ),
        (
            "nothing",
            {"nat": "none", "endpoints": ()},
            "fail",
            (
                "trainers: interface_endpoints=[]: without NAT nodes cannot reach ec2, ecr.api, ecr.dkr, eks and "
                "sts, and never join; set nat=single, or give these endpoints too (leave the argument out to get "
                "all that EKS needs) [aws-network-way-out]"
            ),
        ),
    ],
    services_apart: [
        ("apart", {"cidr": "10.0.0.0/16", "services": ""}, "pass", ""),
        ("next-to-the-default", {"cidr": "10.101.0.0/16", "services": ""}, "pass", ""),
        (
            "in-the-default",
            {"cidr": "10.100.64.0/18", "services": ""},
            "unverified",
            (
                "trainers: cidr=10.100.64.0/18: not verified: overlaps 10.100.0.0/16, which EKS may choose for "
                "Kubernetes services; use another range, such as 10.0.0.0/16 [aws-network-service-range]"
            ),
        ),
        (
            "in-the-other",
            {"cidr": "172.20.0.0/20", "services": ""},
            "unverified",
            (
                "trainers: cidr=172.20.0.0/20: not verified: overlaps 172.20.0.0/16, which EKS may choose for "
                "Kubernetes services; use another range, such as 10.0.0.0/16 [aws-network-service-range]"
            ),
        ),
        ("given-apart", {"cidr": "10.100.0.0/16", "services": "172.20.0.0/16"}, "pass", ""),
        (
            "given-overlaps",
            {"cidr": "10.0.0.0/16", "services": "10.0.128.0/20"},
            "fail",
            (
                "trainers: cidr=10.0.0.0/16: overlaps 10.0.128.0/20, the range of the cluster's services, so "
                "that some addresses are both; use another range for one of them [aws-network-service-range]"
            ),
        ),
        (
            "given-is-none",
            {"cidr": "10.0.0.0/16", "services": "172.20.0.1/16"},
            "unverified",
            (
                "trainers: cidr=10.0.0.0/16: not verified: whether it overlaps the services is not known: "
                "service_cidr=172.20.0.1/16 is not an IPv4 range; give the cluster's as EKS shows it, such as "
                "172.20.0.0/16 [aws-network-service-range]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
