"""Cases of gpufleet.rules.aws.service_cidr, and of its validation."""

import pytest

from gpufleet.rules.aws.service_cidr import services_apart_from_vpc, services_legal, validate_services


def legal(cidr: str, outcome: str, said: str = ""):
    rule = " [aws-cluster-services]"
    return (cidr, {"service_cidr": cidr}, outcome, f"trainers: service_cidr={cidr}: {said}{rule}" if said else "")


EXAMPLE = "use one such as 10.200.0.0/16"
CASES = {
    services_legal: [
        legal("10.200.0.0/16", "pass"),
        legal("172.16.0.0/12", "pass"),
        legal("192.168.255.0/24", "pass"),
        legal("10.0.0.0/11", "fail", f"is not a range of /12 to /24; {EXAMPLE}"),
        legal("10.200.0.0/25", "fail", f"is not a range of /12 to /24; {EXAMPLE}"),
        legal("10.200.0.0", "fail", f"is not a range of /12 to /24; {EXAMPLE}"),
        legal("10.200.1.0/16", "fail", "does not begin where its prefix says; use 10.200.0.0/16"),
        legal("fd00::/108", "fail", f"is not an IPv4 range; {EXAMPLE}"),
        legal(
            "100.64.0.0/16",
            "fail",
            (
                "is not a private range, which EKS requires here; use a range of 10.0.0.0/8, 172.16.0.0/12 or "
                "192.168.0.0/16"
            ),
        ),
    ],
    services_apart_from_vpc: [
        ("apart", {"service_cidr": "10.200.0.0/16", "vpc_cidr": "10.0.0.0/16"}, "pass", ""),
        ("neighbours", {"service_cidr": "10.1.0.0/16", "vpc_cidr": "10.0.0.0/16"}, "pass", ""),
        (
            "inside",
            {"service_cidr": "10.0.128.0/20", "vpc_cidr": "10.0.0.0/16"},
            "fail",
            (
                "trainers: service_cidr=10.0.128.0/20: overlaps vpc_cidr=10.0.0.0/16; give each its own range "
                "[aws-cluster-services-apart]"
            ),
        ),
    ],
}


def test_case(case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("args", "rules"),
    [
        ({"vpc_cidr": "10.0.0.0/16"}, []),
        ({"service_cidr": "10.0.0.0/16"}, []),
        ({"service_cidr": "10.0.0.0/16", "vpc_cidr": "the office"}, []),
        ({"service_cidr": "10.0.0.0/16", "vpc_cidr": "10.0.0.0/16"}, ["aws-cluster-services-apart"]),
        ({"service_cidr": "10.0.0.0/8", "vpc_cidr": "10.0.0.0/16"}, ["aws-cluster-services"]),
    ],
)
def test_judge_services(args: dict[str, object], rules: list[str]) -> None:
    assert [each.rule for each in validate_services(args) if each.status.value == "fail"] == rules
