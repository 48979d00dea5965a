"""Cases of gpufleet.rules.aws.network_quota."""

from gpufleet.rules.aws.network_quota import network_quota_enough

QUOTA = "--service-code ec2 --quota-code L-0263D0A3 --region us-east-1"


def asked(new, in_use, limit, counted="elastic_ips", where="us-east-1"):
    return {"counted": counted, "where": where, "new": new, "in_use": in_use, "limit": limit, "quota": QUOTA}


def ask(need):
    return (
        f"ask for {need} or more: `aws service-quotas request-service-quota-increase {QUOTA} --desired-value {need}` "
        "[aws-network-quota-enough]"
    )


LOOK = (
    f"compare with `aws service-quotas get-service-quota {QUOTA}` and what the account holds [aws-network-quota-enough]"
)

CASES = {
    network_quota_enough: [
        ("exactly-enough", asked(3, 2, 5), "pass", ""),
        ("nothing-new-in-a-full-account", asked(0, 7, 5), "pass", ""),
        ("nothing-new-and-nothing-known", asked(0, None, None), "pass", ""),
        (
            "one-too-many-and-one-gateway-for-all-zones-would-do",
            asked(3, 3, 5),
            "fail",
            (
                "trainers: elastic_ips=3: 3 new Elastic IPs in us-east-1 and 3 in use make 6, which is above the limit "
                "of 5; release addresses that nobody uses, make one NAT gateway for all zones (nat=single), use a VPC "
                f"that exists (vpc_id) or {ask(6)}"
            ),
        ),
        (
            "one-gateway-for-all-zones-would-not-do",
            asked(3, 5, 5),
            "fail",
            (
                "trainers: elastic_ips=3: 3 new Elastic IPs in us-east-1 and 5 in use make 8, which is above the limit "
                "of 5; release addresses that nobody uses, use a VPC that exists (vpc_id) or " + ask(8)
            ),
        ),
        (
            "there-is-one-gateway-only",
            asked(1, 5, 5),
            "fail",
            (
                "trainers: elastic_ips=1: 1 new Elastic IP in us-east-1 and 5 in use make 6, which is above the limit "
                "of 5; release addresses that nobody uses, use a VPC that exists (vpc_id) or " + ask(6)
            ),
        ),
        (
            "an-empty-account-has-not-enough",
            asked(6, 0, 5),
            "fail",
            (
                "trainers: elastic_ips=6: 6 new Elastic IPs in us-east-1 are above the limit of 5; release addresses "
                "that nobody uses, make one NAT gateway for all zones (nat=single), use a VPC that exists (vpc_id) or "
                + ask(6)
            ),
        ),
        (
            "too-many-whatever-is-in-use",
            asked(6, None, 5, "vpcs"),
            "fail",
            (
                "trainers: vpcs=6: 6 new VPCs in us-east-1, what is in use not even counted, are above the limit of "
                "5; delete those that nobody uses, use a VPC that exists (vpc_id) or " + ask(6)
            ),
        ),
        (
            "internet-gateways",
            asked(1, 5, 5, "internet_gateways"),
            "fail",
            (
                "trainers: internet_gateways=1: 1 new internet gateway in us-east-1 and 5 in use make 6, which is "
                "above the limit of 5; delete those that nobody uses, use a VPC that exists (vpc_id) or " + ask(6)
            ),
        ),
        (
            "nat-gateways-of-a-zone",
            asked(1, 5, 5, "nat_gateways", "use1-az2"),
            "fail",
            (
                "trainers: nat_gateways=1: 1 new NAT gateway in use1-az2 and 5 in use make 6, which is above the "
                "limit of 5; delete those that nobody uses, make one for all zones, in another zone (nat=single: in "
                "the first of zones), use a VPC that exists (vpc_id) or " + ask(6)
            ),
        ),
        (
            "none-is-allowed",
            asked(1, 0, 0, "vpcs"),
            "fail",
            (
                "trainers: vpcs=1: 1 new VPC in us-east-1 is above the limit of 0; delete those that nobody uses, use "
                "a VPC that exists (vpc_id) or " + ask(1)
            ),
        ),
        (
            "one-and-its-limit-unknown",
            asked(1, 2, None, "vpcs"),
            "unverified",
            (
                "trainers: vpcs=1: not verified: 1 new VPC in us-east-1 is needed, and the account's limit is not "
                f"known; {LOOK}"
            ),
        ),
        (
            "limit-unknown",
            asked(3, 2, None),
            "unverified",
            (
                "trainers: elastic_ips=3: not verified: 3 new Elastic IPs in us-east-1 are needed, and the account's "
                f"limit is not known; {LOOK}"
            ),
        ),
        (
            "use-unknown",
            asked(5, None, 5),
            "unverified",
            (
                "trainers: elastic_ips=5: not verified: 5 new Elastic IPs in us-east-1 are needed, the limit is 5, and "
                f"how many are in use is not known; {LOOK}"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
