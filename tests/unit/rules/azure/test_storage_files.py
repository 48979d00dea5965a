"""Cases of gpufleet.rules.azure.storage_files, and of its validation."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.azure.storage_files import (
    allowed_cidr,
    clients,
    container_name,
    nfs_redundancy,
    retention,
    share_size,
    validate_azure_files,
)

NAME = (
    "is not a valid Azure Storage name; use 3 to 63 lower-case letters, digits and single hyphens, a letter or digit "
    "first and last [azure-files-name]"
)
ADDRESS = "use an address such as 203.0.113.7, or a range such as 203.0.113.0/24 [azure-files-cidr]"
SUBNETS = "give the subnets of the nodes, or use access=private-endpoint [azure-files-clients]"

CASES = {
    container_name: [
        ("plain", {"argument": "containers", "name": "scripts"}, "pass", ""),
        ("shortest", {"argument": "containers", "name": "a-1"}, "pass", ""),
        ("longest", {"argument": "shares", "name": "a" * 63}, "pass", ""),
        ("too-long", {"argument": "shares", "name": "a" * 64}, "fail", f"trainers: shares={'a' * 64}: {NAME}"),
        ("too-short", {"argument": "containers", "name": "ab"}, "fail", f"trainers: containers=ab: {NAME}"),
        ("two-hyphens", {"argument": "containers", "name": "a--b"}, "fail", f"trainers: containers=a--b: {NAME}"),
        ("capital", {"argument": "shares", "name": "Logs"}, "fail", f"trainers: shares=Logs: {NAME}"),
        ("azures-own", {"argument": "containers", "name": "$logs"}, "fail", f"trainers: containers=$logs: {NAME}"),
        ("hyphen-last", {"argument": "containers", "name": "logs-"}, "fail", f"trainers: containers=logs-: {NAME}"),
    ],
    share_size: [
        ("least", {"gib": 1}, "pass", ""),
        ("most", {"gib": 102400}, "pass", ""),
        (
            "none",
            {"gib": 0},
            "fail",
            "trainers: share_gib=0: is not a valid file share size; use 1 to 102400 GiB [azure-files-share-size]",
        ),
        (
            "too-large",
            {"gib": 102401},
            "fail",
            "trainers: share_gib=102401: is not a valid file share size; use 1 to 102400 GiB [azure-files-share-size]",
        ),
    ],
    retention: [
        ("none", {"days": 0}, "pass", ""),
        ("most", {"days": 365}, "pass", ""),
        (
            "too-long",
            {"days": 366},
            "fail",
            ("trainers: retention_days=366: is not a valid retention period; use 0 to 365 [azure-files-retention]"),
        ),
        (
            "negative",
            {"days": -1},
            "fail",
            ("trainers: retention_days=-1: is not a valid retention period; use 0 to 365 [azure-files-retention]"),
        ),
    ],
    clients: [
        ("subnets", {"subnets": 1, "cidrs": 0, "nfs": True}, "pass", ""),
        ("people", {"subnets": 0, "cidrs": 1, "nfs": False}, "pass", ""),
        (
            "nobody",
            {"subnets": 0, "cidrs": 0, "nfs": False},
            "fail",
            f"trainers: client_subnet_ids={{}}: lets nobody reach the files; {SUBNETS}",
        ),
        (
            "nfs-to-people",
            {"subnets": 0, "cidrs": 1, "nfs": True},
            "fail",
            f"trainers: client_subnet_ids={{}}: NFS has no credentials and is open to subnets only; {SUBNETS}",
        ),
    ],
    allowed_cidr: [
        ("address", {"cidr": "203.0.113.7"}, "pass", ""),
        ("range", {"cidr": "203.0.113.0/24"}, "pass", ""),
        ("smallest", {"cidr": "203.0.113.4/30"}, "pass", ""),
        ("widest", {"cidr": "20.0.0.0/8"}, "pass", ""),
        (
            "everybody",
            {"cidr": "0.0.0.0/0"},
            "fail",
            f"trainers: allowed_cidrs=0.0.0.0/0: opens the files to a large part of the internet; {ADDRESS}",
        ),
        (
            "half-of-a-class",
            {"cidr": "20.0.0.0/7"},
            "fail",
            f"trainers: allowed_cidrs=20.0.0.0/7: opens the files to a large part of the internet; {ADDRESS}",
        ),
        (
            "private",
            {"cidr": "192.168.1.0/24"},
            "fail",
            f"trainers: allowed_cidrs=192.168.1.0/24: is private, and Azure sees public addresses only; {ADDRESS}",
        ),
        (
            "single-as-range",
            {"cidr": "203.0.113.7/32"},
            "fail",
            (
                "trainers: allowed_cidrs=203.0.113.7/32: is a range of a size that Azure Storage rejects; write "
                "203.0.113.7, without /32 [azure-files-cidr]"
            ),
        ),
        (
            "pair",
            {"cidr": "203.0.113.6/31"},
            "fail",
            (
                "trainers: allowed_cidrs=203.0.113.6/31: is a range of a size that Azure Storage rejects; write "
                "203.0.113.6, 203.0.113.7, without /31 [azure-files-cidr]"
            ),
        ),
        (
            "not-at-its-beginning",
            {"cidr": "203.0.113.7/24"},
            "fail",
            f"trainers: allowed_cidrs=203.0.113.7/24: is neither an IPv4 address nor a range; {ADDRESS}",
        ),
        (
            "v6",
            {"cidr": "2001:db8::1"},
            "fail",
            f"trainers: allowed_cidrs=2001:db8::1: is neither an IPv4 address nor a range; {ADDRESS}",
        ),
    ],
    nfs_redundancy: [
        ("off", {"nfs": False, "redundancy": "Standard_RAGRS"}, "pass", ""),
        ("zones", {"nfs": True, "redundancy": "Standard_ZRS"}, "pass", ""),
        (
            "regions",
            {"nfs": True, "redundancy": "Standard_GZRS"},
            "fail",
            (
                "trainers: redundancy=Standard_GZRS: is not available with NFS 3.0; use Standard_LRS or Standard_ZRS "
                "[azure-files-nfs-redundancy]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


FILES = {"region": "eastus", "client_subnet_ids": {"nodes": object()}, "tags": {"owner": "ml"}}


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({}, []),
        ({"nfs": True}, []),
        ({"access": "private-endpoint", "endpoint_subnet_id": object(), "vnet_id": object()}, []),
        ({"region": "East US"}, ["azure-region-form"]),
        ({"access": "public"}, ["any-argument-word"]),
        ({"shares": ["logs", "logs"]}, ["any-argument-distinct"]),
        ({"nfs": True, "hierarchical": False}, ["azure-storage-nfs-namespace"]),
        ({"nfs": True, "redundancy": "Standard_GRS"}, ["azure-files-nfs-redundancy"]),
        ({"client_subnet_ids": {}}, ["azure-files-clients"]),
        ({"access": "private-endpoint"}, ["azure-private-endpoint-place"]),
        ({"account_name": "a"}, ["azure-account-name"]),
        ({"tags": {f"tag{number}": "x" for number in range(16)}}, []),
        (
            {
                "access": "private-endpoint",
                "endpoint_subnet_id": object(),
                "vnet_id": object(),
                "tags": {f"tag{number}": "x" for number in range(16)},
            },
            ["azure-tag-number"],
        ),
    ],
)
def test_door(change, rules):
    found = {each.rule for each in validate_azure_files(FILES | change) if each.status is not Status.PASS}
    assert sorted(found) == rules
