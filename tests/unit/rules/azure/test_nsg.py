"""Cases of gpufleet.rules.azure.nsg."""

import pytest

from gpufleet.plan import UNKNOWN
from gpufleet.rules.azure.nsg import JOB_PORT, inter_node_open, mount_port_open, port_open, priority_once

CASES = {
    inter_node_open: [
        ("open", {"group": "nsg", "inter_node": True, "open_inside": True}, "pass", ""),
        (
            "closed",
            {"group": "nsg", "inter_node": True, "open_inside": False},
            "fail",
            (
                "trainers: network_security_group=nsg: denies what nodes of one job send to each other; allow "
                "Inbound from VirtualNetwork on all ports before what denies it [azure-nsg-inter-node]"
            ),
        ),
        (
            "unknown",
            {"group": "nsg", "inter_node": True, "open_inside": None},
            "unverified",
            (
                "trainers: network_security_group=nsg: not verified: whether it lets nodes reach each other is not "
                "known; allow Inbound from VirtualNetwork on all ports before what denies it "
                "[azure-nsg-inter-node]"
            ),
        ),
        ("silent", {"group": "nsg", "inter_node": False, "open_inside": False}, "pass", ""),
    ],
    mount_port_open: [
        ("open", {"group": "nsg", "what": "NFS", "port": 2049, "open_outside": True}, "pass", ""),
        (
            "closed",
            {"group": "nsg", "what": "file share", "port": 445, "open_outside": False},
            "fail",
            (
                "trainers: network_security_group=nsg: denies TCP 445, which a mounted file share needs; allow "
                "Outbound TCP 445 to Storage before what denies it [azure-nsg-mount-port]"
            ),
        ),
        (
            "unknown",
            {"group": "nsg", "what": "NFS", "port": 2049, "open_outside": None},
            "unverified",
            (
                "trainers: network_security_group=nsg: not verified: whether it lets TCP 2049 out, which a mounted "
                "NFS needs, is not known; allow Outbound TCP 2049 to Storage before what denies it "
                "[azure-nsg-mount-port]"
            ),
        ),
    ],
    priority_once: [
        ("once", {"direction": "Inbound", "priority": 100, "names": ["nodes"]}, "pass", ""),
        (
            "twice",
            {"direction": "Inbound", "priority": 100, "names": ["nodes", "login"]},
            "fail",
            (
                "trainers: priority=100: is that of 2 inbound rules: nodes and login; give each its own priority "
                "[azure-nsg-priority]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


def entry(priority, access, direction="Inbound", **changes):
    return {
        "priority": priority,
        "access": access,
        "direction": direction,
        "protocol": "*",
        "destinationPortRange": "*",
        "sourceAddressPrefix": "*",
        "destinationAddressPrefix": "*",
        **changes,
    }


@pytest.mark.parametrize(
    ("rules", "direction", "port", "expected"),
    [
        ([], "Inbound", JOB_PORT, True),
        (None, "Inbound", JOB_PORT, None),
        ([entry(100, "Deny")], "Inbound", JOB_PORT, False),
        ([entry(100, "Deny")], "Outbound", 445, True),
        ([entry(200, "Deny"), entry(100, "Allow", sourceAddressPrefix="VirtualNetwork")], "Inbound", JOB_PORT, True),
        ([entry(100, "Deny"), entry(200, "Allow", sourceAddressPrefix="VirtualNetwork")], "Inbound", JOB_PORT, False),
        ([entry(100, "Deny", sourceAddressPrefix="Internet")], "Inbound", JOB_PORT, True),
        ([entry(100, "Deny", sourceAddressPrefix="10.0.0.0/16")], "Inbound", JOB_PORT, None),
        ([entry(100, "Deny", protocol="Udp")], "Inbound", JOB_PORT, True),
        ([entry(100, "Deny", protocol="Tcp")], "Inbound", JOB_PORT, False),
        ([entry(100, "Deny", destinationPortRange="22")], "Inbound", JOB_PORT, True),
        ([entry(100, "Deny", destinationPortRange="1024-65535")], "Inbound", JOB_PORT, False),
        ([entry(100, "Deny", "Outbound", destinationPortRange="446-2048")], "Outbound", 445, True),
        ([entry(100, "Deny", "Outbound", destinationPortRange="445-2048")], "Outbound", 445, False),
        (
            [entry(100, "Deny", destinationPortRange=None, destinationPortRanges=["22", "50000"])],
            "Inbound",
            50000,
            False,
        ),
        ([entry(100, "Deny", "Outbound", destinationAddressPrefix="Internet")], "Outbound", 2049, False),
        ([entry(100, "Deny", "Outbound", destinationAddressPrefix="Storage.EastUS")], "Outbound", 2049, False),
        ([entry(100, "Deny", "Outbound", destinationAddressPrefix="VirtualNetwork")], "Outbound", 2049, True),
        (
            [entry(100, "Deny", sourceAddressPrefix=None, sourceAddressPrefixes=["Internet", "VirtualNetwork"])],
            "Inbound",
            JOB_PORT,
            False,
        ),
        ([entry(100, UNKNOWN)], "Inbound", JOB_PORT, None),
        ([entry(100, "Deny", UNKNOWN)], "Inbound", JOB_PORT, None),
        ([entry(100, "Allow"), entry(200, "Deny", UNKNOWN)], "Inbound", JOB_PORT, True),
        ([entry(UNKNOWN, "Deny")], "Inbound", JOB_PORT, None),
        ([entry(100, "Deny", protocol=UNKNOWN)], "Inbound", JOB_PORT, None),
        ([entry(100, "Deny", destinationPortRange=UNKNOWN)], "Inbound", JOB_PORT, None),
        ([entry(100, "Deny", sourceAddressPrefix=UNKNOWN)], "Inbound", JOB_PORT, None),
    ],
)
def test_port_open(rules, direction, port, expected):
    assert port_open(rules, direction, port) is expected
