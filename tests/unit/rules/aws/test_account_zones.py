"""Cases of gpufleet.rules.aws.account_zones."""

from gpufleet.rules.aws.account_zones import zone_names_agree

KNOWN = {"use1-az1": "us-east-1c", "use1-az2": "us-east-1a"}

CASES = {
    zone_names_agree: [
        ("same", {"given": {"use1-az1": "us-east-1c"}, "known": KNOWN}, "pass", ""),
        ("none-given", {"given": {}, "known": None}, "pass", ""),
        (
            "another-account's",
            {"given": {"use1-az1": "us-east-1a", "use1-az2": "us-east-1a"}, "known": KNOWN},
            "fail",
            (
                "trainers: zone_names={use1-az1: us-east-1a}: these are not the names of this account; it has "
                "use1-az1: us-east-1c [aws-zone-names-agree]"
            ),
        ),
        (
            "no-such-zone",
            {"given": {"use1-az3": "us-east-1e", "use1-az2": "us-east-1c"}, "known": KNOWN},
            "fail",
            (
                "trainers: zone_names={use1-az3: us-east-1e, use1-az2: us-east-1c}: these are not the names of this "
                "account; it has use1-az2: us-east-1a, no use1-az3 [aws-zone-names-agree]"
            ),
        ),
        (
            "unknown",
            {"given": {"use1-az1": "us-east-1a"}, "known": None},
            "unverified",
            (
                "trainers: zone_names={use1-az1: us-east-1a}: not verified: this account's names of zones are not "
                "known; compare with `aws ec2 describe-availability-zones` [aws-zone-names-agree]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
