"""Cases of gpufleet.rules.azure.network, and of its validation."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.azure.network import (
    cidr_clear_of_cluster,
    cidr_legal,
    cidr_private,
    existing_or_new,
    existing_subnets_given,
    network_id,
    subnet_inside,
    validate_azure_network,
    way_out,
)

VNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/hub"
FORM = "/subscriptions/.../resourceGroups/.../providers/Microsoft.Network/virtualNetworks/NAME"
PRIVATE = "use a range of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10 [azure-network-cidr-private]"
CLEAR = (
    "use one such as 10.60.0.0/16, or give the cluster other ranges where they are its own [azure-network-cidr-cluster]"
)
GIVE = "give the ids of nodes, batch and endpoints; two may be the same [azure-network-existing-subnets]"

CASES = {
    cidr_legal: [
        ("default", {"cidr": "10.60.0.0/16"}, "pass", ""),
        ("smallest", {"cidr": "10.60.0.0/24"}, "pass", ""),
        ("widest", {"cidr": "10.0.0.0/8"}, "pass", ""),
        (
            "too-small",
            {"cidr": "10.60.0.0/25"},
            "fail",
            (
                "trainers: cidr=10.60.0.0/25: is not a range of /8 to /24; use one such as 10.60.0.0/16 "
                "[azure-network-cidr]"
            ),
        ),
        (
            "too-wide",
            {"cidr": "10.0.0.0/7"},
            "fail",
            (
                "trainers: cidr=10.0.0.0/7: is not a range of /8 to /24; use one such as 10.60.0.0/16 "
                "[azure-network-cidr]"
            ),
        ),
        (
            "address",
            {"cidr": "10.60.0.0"},
            "fail",
            "trainers: cidr=10.60.0.0: is not a range of /8 to /24; use one such as 10.60.0.0/16 [azure-network-cidr]",
        ),
        (
            "not-at-its-beginning",
            {"cidr": "10.60.5.0/16"},
            "fail",
            "trainers: cidr=10.60.5.0/16: does not begin where its prefix says; use 10.60.0.0/16 [azure-network-cidr]",
        ),
        (
            "words",
            {"cidr": "ten"},
            "fail",
            "trainers: cidr=ten: is not an IPv4 range; use one such as 10.60.0.0/16 [azure-network-cidr]",
        ),
    ],
    cidr_private: [
        ("private", {"cidr": "172.16.0.0/12"}, "pass", ""),
        ("shared", {"cidr": "100.64.0.0/10"}, "pass", ""),
        (
            "public",
            {"cidr": "20.0.0.0/16"},
            "fail",
            (
                "trainers: cidr=20.0.0.0/16: belongs to others on the internet, whom the nodes then cannot reach; "
                f"{PRIVATE}"
            ),
        ),
        (
            "half",
            {"cidr": "172.0.0.0/8"},
            "fail",
            (
                "trainers: cidr=172.0.0.0/8: belongs to others on the internet, whom the nodes then cannot reach; "
                f"{PRIVATE}"
            ),
        ),
    ],
    cidr_clear_of_cluster: [
        ("default", {"cidr": "10.60.0.0/16"}, "pass", ""),
        ("next-to-services", {"cidr": "10.1.0.0/16"}, "pass", ""),
        (
            "services",
            {"cidr": "10.0.8.0/24"},
            "fail",
            f"trainers: cidr=10.0.8.0/24: overlaps with 10.0.0.0/16 (AKS's own for services); {CLEAR}",
        ),
        (
            "both",
            {"cidr": "10.0.0.0/8"},
            "fail",
            (
                "trainers: cidr=10.0.0.0/8: overlaps with 10.0.0.0/16 (AKS's own for services) and 10.244.0.0/16 "
                f"(AKS's own for pods); {CLEAR}"
            ),
        ),
        (
            "reserved",
            {"cidr": "172.31.0.0/16"},
            "fail",
            f"trainers: cidr=172.31.0.0/16: overlaps with 172.31.0.0/16 (rejected by AKS); {CLEAR}",
        ),
    ],
    way_out: [
        ("nat", {"nat": "gateway", "route_table": False}, "pass", ""),
        ("routes", {"nat": "none", "route_table": True}, "pass", ""),
        (
            "none",
            {"nat": "none", "route_table": False},
            "fail",
            (
                "trainers: nat=none: nodes would reach neither their registry nor the service that runs them; use "
                "nat=gateway, or give route_table_id with a route to a firewall or a gateway [azure-network-way-out]"
            ),
        ),
    ],
    existing_subnets_given: [
        ("new", {"existing": False, "given": []}, "pass", ""),
        ("all", {"existing": True, "given": ["nodes", "batch", "endpoints"]}, "pass", ""),
        (
            "one-missing",
            {"existing": True, "given": ["nodes", "batch"]},
            "fail",
            f"trainers: subnet_ids=[batch, nodes]: there is no subnet for endpoints; {GIVE}",
        ),
        (
            "none",
            {"existing": True, "given": []},
            "fail",
            f"trainers: subnet_ids=[]: there is no subnet for nodes, batch and endpoints; {GIVE}",
        ),
    ],
    existing_or_new: [
        ("new", {"existing": False, "argument": "nat"}, "pass", ""),
        ("existing", {"existing": True, "argument": "subnet_ids"}, "pass", ""),
        (
            "shape-of-existing",
            {"existing": True, "argument": "cidr"},
            "fail",
            (
                "trainers: cidr=given: shapes a new network and changes nothing in an existing one; remove it or "
                "vnet_id [azure-network-existing-or-new]"
            ),
        ),
        (
            "subnets-of-new",
            {"existing": False, "argument": "subnet_ids"},
            "fail",
            (
                "trainers: subnet_ids=given: belongs to an existing network; give vnet_id as well, or remove it "
                "[azure-network-existing-or-new]"
            ),
        ),
    ],
    network_id: [
        ("network", {"argument": "vnet_id", "value": VNET}, "pass", ""),
        ("subnet", {"argument": "subnet_ids", "value": f"{VNET}/subnets/nodes"}, "pass", ""),
        ("other-case", {"argument": "vnet_id", "value": VNET.lower()}, "pass", ""),
        (
            "name",
            {"argument": "vnet_id", "value": "hub"},
            "fail",
            f"trainers: vnet_id=hub: is not an Azure resource id; use one such as {FORM} [azure-network-id]",
        ),
        (
            "network-for-subnet",
            {"argument": "subnet_ids", "value": VNET},
            "fail",
            (
                f"trainers: subnet_ids={VNET}: is not an Azure resource id; use one such as {FORM}/subnets/NAME "
                "[azure-network-id]"
            ),
        ),
    ],
    subnet_inside: [
        ("inside", {"subnet": f"{VNET}/subnets/nodes", "vnet": VNET}, "pass", ""),
        ("no-id", {"subnet": "nodes", "vnet": VNET}, "pass", ""),
        (
            "elsewhere",
            {"subnet": f"{VNET}2/subnets/nodes", "vnet": VNET},
            "fail",
            (
                f"trainers: subnet_ids={VNET}2/subnets/nodes: is a subnet of another network; use subnets of {VNET} "
                "[azure-network-subnet-inside]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


SUBNETS = {role: f"{VNET}/subnets/{role}" for role in ("nodes", "batch", "endpoints")}


@pytest.mark.parametrize(
    ("args", "rules"),
    [
        ({}, []),
        ({"cidr": "10.8.4.0/22", "nat": "none", "route_table_id": object()}, []),
        ({"vnet_id": VNET, "subnet_ids": SUBNETS}, []),
        ({"vnet_id": object(), "subnet_ids": dict.fromkeys(SUBNETS, object())}, []),
        ({"cidr": "not checked further"}, ["azure-network-cidr"]),
        ({"cidr": "20.0.0.0/16"}, ["azure-network-cidr-private"]),
        ({"cidr": "10.0.0.0/16"}, ["azure-network-cidr-cluster"]),
        ({"vnet_id": VNET, "subnet_ids": SUBNETS, "route_table_id": object()}, ["azure-network-existing-or-new"]),
        ({"vnet_id": VNET, "subnet_ids": SUBNETS | {"gpu": f"{VNET}/subnets/gpu"}}, ["any-argument-word"]),
        ({"vnet_id": "hub", "subnet_ids": SUBNETS}, ["azure-network-id", "azure-network-subnet-inside"]),
        ({"tags": {"a?": "b"}}, ["azure-tag-key"]),
    ],
)
def test_door(args, rules):
    findings = validate_azure_network({"region": "eastus", **args})
    assert sorted({each.rule for each in findings if each.status is not Status.PASS}) == rules
