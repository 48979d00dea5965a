"""Cases of gpufleet.rules.azure.batch_image."""

from datetime import date

from gpufleet.rules.azure.batch_image import image_ended, image_ends

CASES = {
    image_ended: [
        ("day-before", {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 6, 29)}, "pass", ""),
        ("last-day", {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 6, 30)}, "pass", ""),
        (
            "day-after",
            {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 7, 1)},
            "fail",
            (
                "trainers: node_agent_sku_id=batch.node.ubuntu 22.04: Batch has not supported it since 2027-06-30; "
                "use microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04 [azure-batch-image-ended]"
            ),
        ),
        (
            "focal",
            {"node_agent": "Batch.Node.Ubuntu 20.04", "today": date(2026, 11, 21)},
            "fail",
            (
                "trainers: node_agent_sku_id=Batch.Node.Ubuntu 20.04: Batch has not supported it since 2025-04-23; "
                "use microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04 [azure-batch-image-ended]"
            ),
        ),
        ("current", {"node_agent": "batch.node.ubuntu 24.04", "today": date(2026, 11, 21)}, "pass", ""),
    ],
    image_ends: [
        ("366-days", {"node_agent": "batch.node.ubuntu 22.04", "today": date(2026, 6, 29)}, "pass", ""),
        (
            "365-days",
            {"node_agent": "batch.node.ubuntu 22.04", "today": date(2026, 6, 30)},
            "fail",
            (
                "trainers: node_agent_sku_id=batch.node.ubuntu 22.04: Batch supports it until 2027-06-30 only; use "
                "microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04 [azure-batch-image-ends]"
            ),
        ),
        (
            "last-day",
            {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 6, 30)},
            "fail",
            (
                "trainers: node_agent_sku_id=batch.node.ubuntu 22.04: Batch supports it until 2027-06-30 only; use "
                "microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04 [azure-batch-image-ends]"
            ),
        ),
        ("ended", {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 7, 1)}, "pass", ""),
        ("current", {"node_agent": "batch.node.ubuntu 24.04", "today": date(2026, 11, 21)}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
