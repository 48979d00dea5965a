"""Cases of gpufleet.rules.azure.addresses."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.azure.addresses import addresses_enough, ranges_apart, validate_azure_addresses

SMALL = {"cidr": "10.60.0.0/24", "role": "batch", "subnet": "10.60.0.64/26"}
CASES = {
    addresses_enough: [
        ("last address", {**SMALL, "nodes": 59}, "pass", ""),
        (
            "one more",
            {**SMALL, "nodes": 60},
            "fail",
            "trainers: cidr=10.60.0.0/24: Azure Batch may have 60 nodes, and its part 10.60.0.64/26 has 59 addresses; "
            "use a range of /23 or larger, or lower max [azure-stack-addresses]",
        ),
        (
            "of a cluster",
            {"cidr": "10.60.0.0/24", "role": "nodes", "subnet": "10.60.0.0/26", "nodes": 124},
            "fail",
            "trainers: cidr=10.60.0.0/24: the cluster may have 124 nodes, and its part 10.60.0.0/26 has 59 addresses; "
            "use a range of /22 or larger, or lower max [azure-stack-addresses]",
        ),
    ],
    ranges_apart: [
        ("apart", {"cidr": "10.60.0.0/16", "argument": "pod_cidr", "other": "10.244.0.0/16"}, "pass", ""),
        ("no range", {"cidr": "10.60.0.0/16", "argument": "pod_cidr", "other": "pods"}, "pass", ""),
        (
            "the same",
            {"cidr": "10.0.0.0/8", "argument": "pod_cidr", "other": "10.244.0.0/16"},
            "fail",
            "trainers: cidr=10.0.0.0/8: overlaps gpufleet:cluster.pod_cidr=10.244.0.0/16; use one such as "
            "10.60.0.0/16, or give the cluster another pod_cidr [azure-stack-ranges-apart]",
        ),
    ],
}


def test_case(case):
    case.check()


@pytest.mark.parametrize("nodes", [60, 123, 124, 5000, 20000])
def test_range_of_the_fix_is_enough_and_the_next_smaller_is_not(nodes):
    (found,) = validate_azure_addresses("10.0.0.0/24", {"batch": nodes}, None)
    prefix = int(found.fix.partition("/")[2].partition(" ")[0])
    outcomes = [validate_azure_addresses(f"10.0.0.0/{each}", {"batch": nodes}, None) for each in (prefix, prefix + 1)]
    assert [found.status for (found,) in outcomes] == [Status.PASS, Status.FAIL]


def test_defaults_of_a_cluster_are_judged_and_what_is_no_range_is_left_to_others():
    assert [each.status for each in validate_azure_addresses("10.60.0.0/16", {}, {})] == [Status.PASS, Status.PASS]
    assert [each.value for each in validate_azure_addresses("10.0.0.0/16", {}, {}) if each.rejects] == ["10.0.0.0/16"]
    other = {"service_cidr": "172.20.0.0/16"}
    assert not any(each.rejects for each in validate_azure_addresses("10.0.0.0/16", {}, other))
    assert validate_azure_addresses("ten", {"batch": 1}, None) == []
