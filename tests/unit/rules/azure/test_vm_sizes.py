"""Cases of gpufleet.rules.azure.vm_sizes."""

from gpufleet.rules.azure.vm_sizes import size_current, size_in_region, size_in_zone, size_known

CASES = {
    size_known: [
        (
            "known",
            {
                "type_name": "Standard_ND96isr_H100_v5",
                "known": ("Standard_NC6", "Standard_NC4as_T4_v3", "Standard_ND96asr_v4", "Standard_ND96isr_H100_v5"),
            },
            "pass",
            "",
        ),
        (
            "misspelt",
            {
                "type_name": "Standard_ND96isr_H100v5",
                "known": ("Standard_NC6", "Standard_NC4as_T4_v3", "Standard_ND96asr_v4", "Standard_ND96isr_H100_v5"),
            },
            "fail",
            (
                "trainers: types=Standard_ND96isr_H100v5: is not a GPU size in the catalog; did you mean "
                "Standard_ND96isr_H100_v5? [azure-size-known]"
            ),
        ),
        (
            "without-the-standard",
            {
                "type_name": "NC6",
                "known": ("Standard_NC6", "Standard_NC4as_T4_v3", "Standard_ND96asr_v4", "Standard_ND96isr_H100_v5"),
            },
            "fail",
            ("trainers: types=NC6: is not a GPU size in the catalog; did you mean Standard_NC6? [azure-size-known]"),
        ),
        (
            "of-no-family",
            {"type_name": "Standard_GPU", "known": ("Standard_NC6",)},
            "fail",
            (
                "trainers: types=Standard_GPU: is not a GPU size in the catalog; use a GPU size that gpufleet catalog "
                "find shows [azure-size-known]"
            ),
        ),
        (
            "other-number",
            {
                "type_name": "Standard_NC5as_T4_v3",
                "known": ("Standard_NC6", "Standard_NC4as_T4_v3", "Standard_ND96asr_v4", "Standard_ND96isr_H100_v5"),
            },
            "fail",
            (
                "trainers: types=Standard_NC5as_T4_v3: is not a GPU size in the catalog; did you mean "
                "Standard_NC4as_T4_v3? [azure-size-known]"
            ),
        ),
        (
            "empty",
            {
                "type_name": "",
                "known": ("Standard_NC6", "Standard_NC4as_T4_v3", "Standard_ND96asr_v4", "Standard_ND96isr_H100_v5"),
            },
            "fail",
            (
                "trainers: types='': is not a GPU size in the catalog; use a GPU size that gpufleet catalog find "
                "shows [azure-size-known]"
            ),
        ),
        (
            "part-of-a-gpu",
            {
                "type_name": "Standard_NV6ads_A10_v5",
                "known": (
                    "Standard_NC6",
                    "Standard_NC4as_T4_v3",
                    "Standard_ND96asr_v4",
                    "Standard_ND96isr_H100_v5",
                    "Standard_NV36ads_A10_v5",
                ),
            },
            "unverified",
            (
                "trainers: types=Standard_NV6ads_A10_v5: not verified: the catalog knows nothing about this size; "
                "compare with az vm list-sizes [azure-size-known]"
            ),
        ),
        (
            "other-model",
            {
                "type_name": "Standard_ND96isr_MI300X_v5",
                "known": ("Standard_NC6", "Standard_NC4as_T4_v3", "Standard_ND96asr_v4", "Standard_ND96isr_H100_v5"),
            },
            "unverified",
            (
                "trainers: types=Standard_ND96isr_MI300X_v5: not verified: the catalog knows nothing about this "
                "size; compare with az vm list-sizes [azure-size-known]"
            ),
        ),
        (
            "other-family",
            {
                "type_name": "Standard_NCC40ads_H100_v5",
                "known": ("Standard_NC6", "Standard_NC4as_T4_v3", "Standard_ND96asr_v4", "Standard_ND96isr_H100_v5"),
            },
            "unverified",
            (
                "trainers: types=Standard_NCC40ads_H100_v5: not verified: the catalog knows nothing about this "
                "size; compare with az vm list-sizes [azure-size-known]"
            ),
        ),
    ],
    size_current: [
        ("current", {"type_name": "Standard_ND96isr_H100_v5", "retired": None, "successor": None}, "pass", ""),
        (
            "retired",
            {"type_name": "Standard_NC6", "retired": "2023-09-06", "successor": "Standard_NC4as_T4_v3"},
            "fail",
            (
                "trainers: types=Standard_NC6: is retired since 2023-09-06; use Standard_NC4as_T4_v3 "
                "[azure-size-current]"
            ),
        ),
        (
            "without-successor",
            {"type_name": "Standard_NC6", "retired": "2023-09-06", "successor": None},
            "fail",
            ("trainers: types=Standard_NC6: is retired since 2023-09-06; use a current size [azure-size-current]"),
        ),
    ],
    size_in_region: [
        (
            "zones",
            {
                "type_name": "Standard_ND96isr_H100_v5",
                "region": "eastus",
                "zones": ("eastus-1",),
                "elsewhere": ("eastus",),
            },
            "pass",
            "",
        ),
        (
            "price",
            {
                "type_name": "Standard_ND96isr_H100_v5",
                "region": "eastus",
                "zones": None,
                "elsewhere": ("eastus", "westus3"),
            },
            "pass",
            "",
        ),
        (
            "elsewhere",
            {
                "type_name": "Standard_ND96isr_H100_v5",
                "region": "eastus",
                "zones": (),
                "elsewhere": ("westus3", "uksouth"),
            },
            "fail",
            (
                "trainers: types=Standard_ND96isr_H100_v5: is not offered in eastus; it is offered in westus3 or "
                "uksouth [azure-size-in-region]"
            ),
        ),
        (
            "nowhere",
            {"type_name": "Standard_ND96isr_H100_v5", "region": "eastus", "zones": (), "elsewhere": ()},
            "fail",
            (
                "trainers: types=Standard_ND96isr_H100_v5: is not offered in eastus; use another size "
                "[azure-size-in-region]"
            ),
        ),
        (
            "unknown",
            {"type_name": "Standard_ND96isr_H100_v5", "region": "eastus", "zones": None, "elsewhere": ("westus3",)},
            "unverified",
            (
                "trainers: types=Standard_ND96isr_H100_v5: not verified: the catalog does not know whether eastus "
                "offers it; ask az vm list-skus --location eastus --size Standard_ND96isr_H100_v5 "
                "[azure-size-in-region]"
            ),
        ),
    ],
    size_in_zone: [
        (
            "offered",
            {"type_name": "Standard_ND96isr_H100_v5", "zone": "eastus-1", "zones": ("eastus-1", "eastus-3")},
            "pass",
            "",
        ),
        (
            "not-offered",
            {"type_name": "Standard_ND96isr_H100_v5", "zone": "eastus-2", "zones": ("eastus-1", "eastus-3")},
            "fail",
            (
                "trainers: zones=eastus-2: does not offer Standard_ND96isr_H100_v5; use eastus-1 or eastus-3, "
                "which do [azure-size-in-zone]"
            ),
        ),
        (
            "no-zone",
            {"type_name": "Standard_ND96isr_H100_v5", "zone": "eastus-2", "zones": ()},
            "fail",
            (
                "trainers: zones=eastus-2: does not offer Standard_ND96isr_H100_v5; leave zones out, or use "
                "another size [azure-size-in-zone]"
            ),
        ),
        (
            "unknown",
            {"type_name": "Standard_ND96isr_H100_v5", "zone": "eastus-2", "zones": None},
            "unverified",
            (
                "trainers: zones=eastus-2: not verified: zones are numbered by subscription, and which of them "
                "offer Standard_ND96isr_H100_v5 is not known; ask az vm list-skus --zone --size "
                "Standard_ND96isr_H100_v5 in the subscription [azure-size-in-zone]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
