"""Cases of gpufleet.rules.azure.subnet_size."""

from gpufleet.rules.azure.subnet_size import subnet_size

CASES = {
    subnet_size: [
        ("full", {"subnet": "a", "cidr": "10.0.0.0/24", "nodes": 1, "pods": 250}, "pass", ""),
        ("overlay", {"subnet": "a", "cidr": "10.0.0.0/24", "nodes": 251, "pods": 0}, "pass", ""),
        ("no-range", {"subnet": "a", "cidr": "10.0.0.0/99", "nodes": 251, "pods": 0}, "pass", ""),
        (
            "pods",
            {"subnet": "a", "cidr": "10.0.0.0/24", "nodes": 9, "pods": 270},
            "fail",
            "trainers: address_prefix=a: 10.0.0.0/24 has 251 addresses for 9 nodes and 270 pods; use /23 or larger, or "
            "an overlay (networkPluginMode: overlay), in which pods take no address of it [azure-subnet-size]",
        ),
        (
            "nodes",
            {"subnet": "a", "cidr": "10.0.0.0/24", "nodes": 252, "pods": 0},
            "fail",
            "trainers: address_prefix=a: 10.0.0.0/24 has 251 addresses for 252 nodes; use /23 or larger "
            "[azure-subnet-size]",
        ),
    ],
}


def test_case(case):
    case.check()
