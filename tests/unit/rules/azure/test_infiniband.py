"""Cases of gpufleet.rules.azure.infiniband."""

from gpufleet.rules.azure.infiniband import infiniband_one_zone, infiniband_size_one_zone, infiniband_supported

CASES = {
    infiniband_supported: [
        (
            "plain",
            {
                "network": "plain",
                "type_name": "Standard_NC4as_T4_v3",
                "infiniband": None,
                "others": ("Standard_ND96asr_v4",),
            },
            "pass",
            "",
        ),
        (
            "has",
            {
                "network": "infiniband",
                "type_name": "Standard_ND96isr_H100_v5",
                "infiniband": "NDR",
                "others": ("Standard_ND96asr_v4",),
            },
            "pass",
            "",
        ),
        (
            "has-none",
            {
                "network": "infiniband",
                "type_name": "Standard_NC4as_T4_v3",
                "infiniband": None,
                "others": ("Standard_ND96asr_v4", "Standard_ND96isr_H100_v5"),
            },
            "fail",
            (
                "trainers: types=Standard_NC4as_T4_v3: has no InfiniBand; use Standard_ND96asr_v4 or "
                "Standard_ND96isr_H100_v5, or set network=plain [azure-infiniband-supported]"
            ),
        ),
        (
            "nothing-else",
            {"network": "infiniband", "type_name": "Standard_NC4as_T4_v3", "infiniband": None, "others": ()},
            "fail",
            ("trainers: types=Standard_NC4as_T4_v3: has no InfiniBand; set network=plain [azure-infiniband-supported]"),
        ),
    ],
    infiniband_one_zone: [
        ("one", {"network": "infiniband", "zones": ("eastus-1",)}, "pass", ""),
        ("none", {"network": "infiniband", "zones": ()}, "pass", ""),
        (
            "two",
            {"network": "infiniband", "zones": ("eastus-1", "eastus-2")},
            "fail",
            (
                "trainers: zones=[eastus-1, eastus-2]: InfiniBand does not cross zones; keep one zone, or make a "
                "pool for each [azure-infiniband-one-zone]"
            ),
        ),
        (
            "auto",
            {"network": "infiniband", "zones": ("auto",)},
            "fail",
            (
                "trainers: zones=[auto]: InfiniBand does not cross zones; keep one zone, or make a pool for each "
                "[azure-infiniband-one-zone]"
            ),
        ),
        ("plain", {"network": "plain", "zones": ("eastus-1", "eastus-2")}, "pass", ""),
    ],
    infiniband_size_one_zone: [
        (
            "one-zone",
            {"type_name": "Standard_ND96isr_H100_v5", "infiniband": "NDR", "zones": ("eastus-1",), "most": 4},
            "pass",
            "",
        ),
        (
            "two-zones",
            {
                "type_name": "Standard_ND96isr_H100_v5",
                "infiniband": "NDR",
                "zones": ("eastus-1", "eastus-2"),
                "most": 2,
            },
            "fail",
            (
                "trainers: zones=[eastus-1, eastus-2]: the InfiniBand of Standard_ND96isr_H100_v5 does not cross "
                "zones; keep one zone for jobs of several nodes [azure-size-one-zone]"
            ),
        ),
        (
            "auto",
            {"type_name": "Standard_ND96isr_H100_v5", "infiniband": "NDR", "zones": ("auto",), "most": 2},
            "fail",
            (
                "trainers: zones=[auto]: the InfiniBand of Standard_ND96isr_H100_v5 does not cross zones; keep one "
                "zone for jobs of several nodes [azure-size-one-zone]"
            ),
        ),
        (
            "one-node",
            {
                "type_name": "Standard_ND96isr_H100_v5",
                "infiniband": "NDR",
                "zones": ("eastus-1", "eastus-2"),
                "most": 1,
            },
            "pass",
            "",
        ),
        (
            "without",
            {"type_name": "Standard_NC4as_T4_v3", "infiniband": None, "zones": ("eastus-1", "eastus-2"), "most": 4},
            "pass",
            "",
        ),
    ],
}


def test_case(case):
    case.check()
