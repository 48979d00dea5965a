"""Cases of gpufleet.rules.azure.cluster and system_pool, and of the validation of clusters."""

import pytest

from gpufleet.catalog.aks_versions import aks_versions
from gpufleet.rules import Status
from gpufleet.rules.azure.cluster import (
    addresses_apart,
    admin_is_group,
    administered,
    api_limited,
    dns_inside,
    name_legal,
    nodes_reach_api,
    range_public,
    ranges_few,
    validate_azure_cluster,
    version_legal,
    version_offered,
    workload_identity_issued,
)
from gpufleet.rules.azure.system_pool import count_in_order, size_large_enough, size_legal

GUID = "11111111-2222-3333-4444-555555555555"
EVERYBODY = "list the ranges that you work from, such as 203.0.113.0/24, or set private=true [azure-cluster-reached]"
VERSION = 'is not a Kubernetes version of AKS; give major.minor in quotes, such as "1.36" [azure-cluster-version]'
NAME = (
    "is not a valid AKS cluster name; use up to 63 letters, digits, - and _, with a letter or digit at both ends "
    "[azure-cluster-name]"
)
GROUP = (
    "is not the object id of a group; use the id that az ad group show --group <name> --query id shows "
    "[azure-cluster-admin-group]"
)

CASES = {
    version_legal: [
        ("minor", {"version": "1.36"}, "pass", ""),
        ("patch", {"version": "1.36.2"}, "pass", ""),
        ("float", {"version": "1.4"}, "fail", f"trainers: version=1.4: {VERSION}"),
        ("v", {"version": "v1.36"}, "fail", f"trainers: version=v1.36: {VERSION}"),
        ("latest", {"version": "latest"}, "fail", f"trainers: version=latest: {VERSION}"),
    ],
    version_offered: [
        ("offered", {"version": "1.36", "offered": True, "others": ["1.35", "1.36"]}, "pass", ""),
        (
            "over",
            {"version": "1.33", "offered": False, "others": ["1.35", "1.36"]},
            "fail",
            "trainers: version=1.33: AKS makes no cluster with it any more; use 1.35 or 1.36 "
            "[azure-cluster-version-offered]",
        ),
        (
            "to-come",
            {"version": "1.40", "offered": None, "others": ["1.36"]},
            "unverified",
            "trainers: version=1.40: not verified: the catalog does not know whether AKS offers it; ask az aks "
            "get-versions, or use 1.36 [azure-cluster-version-offered]",
        ),
    ],
    api_limited: [
        ("private", {"private": True, "ranges": []}, "pass", ""),
        ("ranges", {"private": False, "ranges": ["203.0.113.0/24"]}, "pass", ""),
        (
            "open",
            {"private": False, "ranges": []},
            "fail",
            f"trainers: private=false: opens the API server to everybody, as AKS does without ranges; {EVERYBODY}",
        ),
        (
            "everybody",
            {"private": False, "ranges": ["203.0.113.0/24", "0.0.0.0/0"]},
            "fail",
            f"trainers: authorized_ranges=[203.0.113.0/24, 0.0.0.0/0]: opens the API server to everybody; {EVERYBODY}",
        ),
        (
            "everybody-in-halves",
            {"private": False, "ranges": ["0.0.0.0/1", "128.0.0.0/1"]},
            "fail",
            "trainers: authorized_ranges=[0.0.0.0/1, 128.0.0.0/1]: opens the API server to a large part of the "
            f"internet; {EVERYBODY}",
        ),
        ("of-one-organisation", {"private": False, "ranges": ["17.0.0.0/8"]}, "pass", ""),
        ("no-range", {"private": False, "ranges": ["office"]}, "pass", ""),
        (
            "both",
            {"private": True, "ranges": ["203.0.113.0/24"]},
            "fail",
            "trainers: authorized_ranges=[203.0.113.0/24]: ranges are for public API servers, and this one is private; "
            "set private=false, or leave the ranges out [azure-cluster-reached]",
        ),
    ],
    range_public: [
        ("range", {"cidr": "203.0.113.0/24"}, "pass", ""),
        ("address", {"cidr": "203.0.113.7/32"}, "pass", ""),
        (
            "host-bits",
            {"cidr": "203.0.113.7/24"},
            "fail",
            "trainers: authorized_ranges=203.0.113.7/24: is not an IPv4 range; use one such as 203.0.113.0/24 "
            "[azure-cluster-range]",
        ),
        (
            "private",
            {"cidr": "10.60.0.0/16"},
            "fail",
            "trainers: authorized_ranges=10.60.0.0/16: is a private range, from which nobody reaches the API server; "
            "give the address that the internet sees, or set private=true [azure-cluster-range]",
        ),
        (
            "of-a-network",
            {"cidr": "198.51.100", "argument": "outbound_addresses"},
            "fail",
            "trainers: outbound_addresses=198.51.100: is not an IPv4 range; use one such as 203.0.113.0/24 "
            "[azure-cluster-range]",
        ),
    ],
    nodes_reach_api: [
        ("no-ranges", {"ranges": [], "outbound": "nat-gateway", "included": False}, "pass", ""),
        ("included", {"ranges": ["203.0.113.0/24"], "outbound": "nat-gateway", "included": True}, "pass", ""),
        (
            "aks-adds-its-own",
            {"ranges": ["203.0.113.0/24"], "outbound": "load-balancer", "included": False},
            "pass",
            "",
        ),
        ("no-way-out", {"ranges": ["203.0.113.0/24"], "outbound": "none", "included": None}, "pass", ""),
        (
            "not-included",
            {"ranges": ["203.0.113.0/24"], "outbound": "nat-gateway", "included": False},
            "fail",
            "trainers: authorized_ranges=[203.0.113.0/24]: the nodes reach the API server through a NAT gateway whose "
            "address is not included, and cannot register; add the public address of the NAT gateway "
            "[azure-cluster-nodes-reach-api]",
        ),
        (
            "address-known",
            {
                "ranges": ["203.0.113.0/24"],
                "outbound": "nat-gateway",
                "included": False,
                "missing": ["20.1.2.3/32", "20.1.2.4/32"],
            },
            "fail",
            "trainers: authorized_ranges=[203.0.113.0/24]: the nodes reach the API server through a NAT gateway whose "
            "address is not included, and cannot register; add the public address of the NAT gateway: 20.1.2.3/32 and "
            "20.1.2.4/32 [azure-cluster-nodes-reach-api]",
        ),
        (
            "not-known",
            {"ranges": ["203.0.113.0/24"], "outbound": "routes", "included": None},
            "unverified",
            "trainers: authorized_ranges=[203.0.113.0/24]: not verified: whether the public address through which the "
            "nodes reach the API server is included is not known; give the address of the NAT gateway or firewall in "
            "outbound_addresses of the network [azure-cluster-nodes-reach-api]",
        ),
    ],
    ranges_few: [
        ("most", {"number": 200}, "pass", ""),
        (
            "more",
            {"number": 201},
            "fail",
            "trainers: authorized_ranges=201: is more ranges than AKS allows; use at most 200 "
            "[azure-cluster-ranges-most]",
        ),
    ],
    administered: [
        ("group", {"admins": ["ops"]}, "pass", ""),
        (
            "nobody",
            {"admins": []},
            "fail",
            "trainers: admins={}: nobody would administer the cluster; name a group of Microsoft Entra ID: az ad group "
            "show --group <name> --query id [azure-cluster-administered]",
        ),
    ],
    admin_is_group: [
        ("id", {"name": "ops", "group": GUID}, "pass", ""),
        ("name", {"name": "ops", "group": "platform"}, "fail", f"trainers: admins.ops=platform: {GROUP}"),
        ("short", {"name": "ops", "group": GUID[:-1]}, "fail", f"trainers: admins.ops={GUID[:-1]}: {GROUP}"),
    ],
    name_legal: [
        ("one", {"cluster_name": "a"}, "pass", ""),
        ("longest", {"cluster_name": "a" * 63}, "pass", ""),
        ("longer", {"cluster_name": "a" * 64}, "fail", f"trainers: cluster_name={'a' * 64}: {NAME}"),
        ("end", {"cluster_name": "fleet-"}, "fail", f"trainers: cluster_name=fleet-: {NAME}"),
        ("dot", {"cluster_name": "a.b"}, "fail", f"trainers: cluster_name=a.b: {NAME}"),
    ],
    addresses_apart: [
        ("usual", {"pods": "10.244.0.0/16", "services": "10.0.0.0/16"}, "pass", ""),
        ("largest", {"pods": "10.244.0.0/16", "services": "172.16.0.0/12"}, "pass", ""),
        ("smallest", {"pods": "10.244.0.0/16", "services": "10.0.0.0/28"}, "pass", ""),
        (
            "overlap",
            {"pods": "10.0.0.0/8", "services": "10.0.0.0/16"},
            "fail",
            "trainers: service_cidr=10.0.0.0/16: overlaps pod_cidr=10.0.0.0/8; use two ranges that share no address "
            "[azure-cluster-addresses]",
        ),
        (
            "large",
            {"pods": "10.244.0.0/16", "services": "32.0.0.0/11"},
            "fail",
            "trainers: service_cidr=32.0.0.0/11: is not a valid size of the service range; use a range of /12 to /28 "
            "[azure-cluster-addresses]",
        ),
        (
            "small",
            {"pods": "10.244.0.0/16", "services": "10.0.0.0/29"},
            "fail",
            "trainers: service_cidr=10.0.0.0/29: is not a valid size of the service range; use a range of /12 to /28 "
            "[azure-cluster-addresses]",
        ),
        (
            "no-range",
            {"pods": "10.244.0.0", "services": "x"},
            "fail",
            "trainers: service_cidr=x: is not an IPv4 range; use one such as 10.244.0.0/16 [azure-cluster-addresses]",
        ),
    ],
    count_in_order: [
        ("one", {"least": 1, "most": 1}, "pass", ""),
        ("usual", {"least": 2, "most": 3}, "pass", ""),
        (
            "none",
            {"least": 0, "most": 3},
            "fail",
            "trainers: system_min=0: leaves no node for DNS and the drivers; use at least 1, better 2 "
            "[azure-system-pool-count]",
        ),
        (
            "order",
            {"least": 4, "most": 3},
            "fail",
            "trainers: system_max=3: is below system_min=4; use at least 4 [azure-system-pool-count]",
        ),
    ],
    size_legal: [
        ("size", {"type_name": "Standard_D4s_v5"}, "pass", ""),
        ("gpu", {"type_name": "Standard_ND96isr_H100_v5"}, "pass", ""),
        (
            "aws",
            {"type_name": "m7i.large"},
            "fail",
            "trainers: system_type=m7i.large: is not a VM size name; use one such as Standard_D4s_v5 "
            "[azure-system-pool-size]",
        ),
    ],
    size_large_enough: [
        ("four", {"type_name": "Standard_D4s_v5"}, "pass", ""),
        ("another-rule's", {"type_name": "m7i.large"}, "pass", ""),
        (
            "two",
            {"type_name": "Standard_D2s_v5"},
            "fail",
            "trainers: system_type=Standard_D2s_v5: has fewer than the 4 vCPUs of a system node; use one such as "
            "Standard_D4s_v5 [azure-system-pool-room]",
        ),
        (
            "b-series",
            {"type_name": "Standard_B4ms"},
            "fail",
            "trainers: system_type=Standard_B4ms: is of the B series, which is slow after a while; use one such as "
            "Standard_D4s_v5 [azure-system-pool-room]",
        ),
    ],
    dns_inside: [
        ("inside", {"dns": "10.0.0.10", "services": "10.0.0.0/16"}, "pass", ""),
        ("second", {"dns": "10.0.0.2", "services": "10.0.0.0/16"}, "pass", ""),
        (
            "outside",
            {"dns": "10.0.0.10", "services": "10.200.0.0/16"},
            "fail",
            (
                "trainers: dns_service_ip=10.0.0.10: is not an address for a service in 10.200.0.0/16; use one such as "
                "10.200.0.10 [azure-cluster-dns]"
            ),
        ),
        (
            "first",
            {"dns": "10.0.0.1", "services": "10.0.0.0/16"},
            "fail",
            (
                "trainers: dns_service_ip=10.0.0.1: is not an address for a service in 10.0.0.0/16; use one such as "
                "10.0.0.10 [azure-cluster-dns]"
            ),
        ),
        (
            "no-address",
            {"dns": "dns", "services": "10.0.0.0/16"},
            "fail",
            (
                "trainers: dns_service_ip=dns: is not an IPv4 address; use one in the range of services, such as "
                "10.0.0.10 "
                "[azure-cluster-dns]"
            ),
        ),
    ],
    workload_identity_issued: [
        ("both", {"enabled": True, "issuer": True}, "pass", ""),
        ("neither", {"enabled": False, "issuer": False}, "pass", ""),
        (
            "no-issuer",
            {"enabled": True, "issuer": False},
            "fail",
            (
                "trainers: security_profile.workload_identity=true: needs the cluster's OIDC issuer, which is off; set "
                "oidc_issuer_profile.enabled=true [azure-cluster-workload-identity]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


LEGAL = {"region": "eastus", "version": "1.36", "admins": {"ops": GUID}}


def found(**changes: object) -> list[tuple[str, str]]:
    """Rule and status of all that has not passed."""
    found = validate_azure_cluster({**LEGAL, **changes})
    return [(each.rule, each.status.value) for each in found if each.status is not Status.PASS]


def test_a_cluster_is_private_unless_ranges_are_given():
    assert found() == []
    assert found(authorized_ranges=["203.0.113.0/24"], outbound_addresses=["198.51.100.7"]) == []
    assert found(authorized_ranges=["203.0.113.0/24"]) == [("azure-cluster-nodes-reach-api", "unverified")]
    assert found(private=False) == [("azure-cluster-reached", "fail")]


@pytest.mark.parametrize(
    ("version", "findings"),
    [
        ("1.28", [("azure-cluster-version-offered", "fail")]),
        ("1.33", [("azure-cluster-version-offered", "fail")]),
        ("1.33.13", [("azure-cluster-version-offered", "fail")]),
        ("1.34", []),
        ("1.36.1", []),
        ("1.37", [("azure-cluster-version-offered", "unverified")]),
        ("1.60", [("azure-cluster-version-offered", "unverified")]),
        ("1.3", [("azure-cluster-version", "fail")]),
    ],
)
def test_versions(version: str, findings: list[tuple[str, str]]):
    assert found(version=version) == findings


def test_aks_offers_the_newest_general_version_and_two_before():
    """N-2; the day of the records decides, not the day of the test."""
    assert [name for name, record in aks_versions().items() if record.offered] == ["1.34", "1.35", "1.36"]
    assert [name for name, record in aks_versions().items() if record.offered is None] == ["1.37"]


def test_a_gpu_for_the_system_pool_is_pointed_out():
    assert found(system_type="Standard_NC24ads_A100_v4") == [("azure-agent-pool-system-gpu", "fail")]


def test_values_of_any_kind_never_raise():
    wrong = {
        "version": 1.3,
        "admins": ["x"],
        "authorized_ranges": "0.0.0.0/0",
        "system_min": "1",
        "zones": 3,
        "tags": 1,
    }
    assert ("azure-cluster-administered", "fail") in found(**wrong)
