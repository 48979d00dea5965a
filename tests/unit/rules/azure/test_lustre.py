"""Cases of gpufleet.rules.azure.lustre."""

from gpufleet.rules.azure.lustre import (
    maintenance_time,
    managed_lustre_size,
    managed_lustre_subnet,
    managed_lustre_zone,
)

NO_SIZE = (
    "trainers: tib={}: is not a multiple of {} TiB, the step of AMLFS-Durable-Premium-{}; use {} [azure-lustre-size]"
)
NO_ROOM = "trainers: filesystem_subnet={}: of files is too small for {} TiB; use /{} or larger [azure-lustre-subnet]"


def size(tib: int, sku: int) -> dict[str, object]:
    return {"argument": "tib", "tib": tib, "sku": f"AMLFS-Durable-Premium-{sku}"}


def room(cidr: str, tib: int) -> dict[str, object]:
    return {"subnet": "files", "cidr": cidr, "tib": tib}


CASES = {
    managed_lustre_size: [
        ("least-of-40", size(48, 40), "pass", ""),
        ("least-of-125", size(16, 125), "pass", ""),
        ("second-of-250", size(16, 250), "pass", ""),
        ("large-of-500", size(128, 500), "pass", ""),
        ("another-sku", size(7, 300), "pass", ""),
        ("below-40", size(47, 40), "fail", NO_SIZE.format(47, 48, 40, 48)),
        ("below-125", size(8, 125), "fail", NO_SIZE.format(8, 16, 125, 16)),
        ("between-250", size(12, 250), "fail", NO_SIZE.format(12, 8, 250, 16)),
        ("none-of-500", size(0, 500), "fail", NO_SIZE.format(0, 4, 500, 4)),
    ],
    managed_lustre_subnet: [
        ("least", room("10.0.0.0/27", 16), "pass", ""),
        ("wide", room("10.0.0.0/20", 400), "pass", ""),
        ("not-a-range", room("anything", 16), "pass", ""),
        ("narrow", room("10.0.0.0/28", 4), "fail", NO_ROOM.format("10.0.0.0/28", 4, 27)),
        ("narrow-for-20", room("10.0.0.0/27", 20), "fail", NO_ROOM.format("10.0.0.0/27", 20, 26)),
        ("narrow-for-48", room("10.0.0.0/26", 48), "fail", NO_ROOM.format("10.0.0.0/26", 48, 25)),
        ("narrow-for-96", room("10.0.0.0/25", 96), "fail", NO_ROOM.format("10.0.0.0/25", 96, 24)),
        ("narrow-for-768", room("10.0.0.0/24", 768), "fail", NO_ROOM.format("10.0.0.0/24", 768, 23)),
    ],
    managed_lustre_zone: [
        ("same", {"zone": "1", "node_zones": ("1",)}, "pass", ""),
        ("no-nodes", {"zone": "1", "node_zones": ()}, "pass", ""),
        (
            "another",
            {"zone": "1", "node_zones": ("1", "3")},
            "fail",
            "trainers: zone=1: is not that of the nodes in 3, which read more slowly; put the pools and the file "
            "system into one zone [azure-lustre-zone]",
        ),
    ],
    maintenance_time: [
        ("morning", {"time": "04:00"}, "pass", ""),
        ("last", {"time": "23:59"}, "pass", ""),
        (
            "no-time",
            {"time": "24:00"},
            "fail",
            "trainers: maintenance_time=24:00: is not a time of day; write HH:MM in UTC, such as 04:00 "
            "[azure-lustre-maintenance]",
        ),
    ],
}


def test_case(case):
    case.check()
