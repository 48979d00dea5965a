"""Cases of gpufleet.rules.azure.placement."""

from gpufleet.rules.azure.placement import group_one_zone, group_sizes, group_zone, no_auto_zones, region_same

CASES = {
    no_auto_zones: [
        ("one", {"placement": "create", "zones": ("eastus-1",)}, "pass", ""),
        (
            "auto",
            {"placement": "create", "zones": ("auto",)},
            "fail",
            (
                "trainers: zones=[auto]: spreads the nodes over zones, and a proximity placement group lies in "
                "one; name one zone, or leave the proximity placement group out [azure-placement-no-auto-zones]"
            ),
        ),
        (
            "auto-existing",
            {"placement": "existing", "zones": ("auto",)},
            "fail",
            (
                "trainers: zones=[auto]: spreads the nodes over zones, and a proximity placement group lies in "
                "one; name one zone, or leave the proximity placement group out [azure-placement-no-auto-zones]"
            ),
        ),
        ("no-group", {"placement": "none", "zones": ("auto",)}, "pass", ""),
    ],
    group_zone: [
        ("same", {"group_zones": ["1"], "zones": ["1"]}, "pass", ""),
        (
            "other",
            {"group_zones": ["2"], "zones": ["1"]},
            "fail",
            (
                "trainers: zones=[1]: its proximity placement group lies in zone 2; give both the same zone "
                "[azure-placement-group-zone]"
            ),
        ),
        ("group-without", {"group_zones": [], "zones": ["1"]}, "pass", ""),
        ("pool-without", {"group_zones": ["1"], "zones": []}, "pass", ""),
        (
            "unknown",
            {"group_zones": None, "zones": ["1"]},
            "unverified",
            (
                "trainers: zones=[1]: not verified: the zone of its proximity placement group is not known before "
                "deployment; make sure that both name the same zone [azure-placement-group-zone]"
            ),
        ),
        ("unknown-without", {"group_zones": None, "zones": []}, "pass", ""),
    ],
    group_one_zone: [
        ("none", {"zones": ()}, "pass", ""),
        ("one", {"zones": ("1",)}, "pass", ""),
        (
            "two",
            {"zones": ("1", "2")},
            "fail",
            (
                "trainers: zones=[1, 2]: a proximity placement group lies in one zone; keep one zone "
                "[azure-placement-group-one-zone]"
            ),
        ),
    ],
    group_sizes: [
        ("any", {"type_name": "Standard_ND96isr_H100_v5", "intended": ()}, "pass", ""),
        (
            "intended",
            {"type_name": "Standard_ND96isr_H100_v5", "intended": ("Standard_ND96asr_v4", "Standard_ND96isr_H100_v5")},
            "pass",
            "",
        ),
        (
            "other-case",
            {"type_name": "Standard_ND96isr_H100_v5", "intended": ("STANDARD_ND96ISR_H100_V5",)},
            "pass",
            "",
        ),
        (
            "other",
            {"type_name": "Standard_ND96isr_H100_v5", "intended": ("Standard_ND96asr_v4", "Standard_NC4as_T4_v3")},
            "fail",
            (
                "trainers: types=Standard_ND96isr_H100_v5: its proximity placement group is made for "
                "Standard_ND96asr_v4, Standard_NC4as_T4_v3; add the size to the intent of the group, or use one of "
                "its sizes [azure-placement-group-sizes]"
            ),
        ),
    ],
    region_same: [
        (
            "same",
            {"argument": "subnet_id", "what": "virtual network", "region": "eastus", "other": "eastus"},
            "pass",
            "",
        ),
        (
            "other",
            {"argument": "subnet_id", "what": "virtual network", "region": "eastus", "other": "westus2"},
            "fail",
            (
                "trainers: subnet_id=westus2: its virtual network lies in westus2, the pool in eastus; use a "
                "virtual network in eastus [azure-region-same]"
            ),
        ),
        (
            "unknown",
            {"argument": "placement_group", "what": "proximity placement group", "region": "eastus", "other": None},
            "unverified",
            (
                "trainers: placement_group=(not known): not verified: the region of its proximity placement group "
                "is not known before deployment; make sure that it is eastus [azure-region-same]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
