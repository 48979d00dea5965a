"""Cases of gpufleet.rules.azure.capacity."""

from gpufleet.rules.azure.capacity import reservation_fits, reservation_size, spot_mpi

CASES = {
    reservation_size: [
        ("can", {"type_name": "Standard_ND96asr_v4", "supported": True}, "pass", ""),
        (
            "cannot",
            {"type_name": "Standard_A0", "supported": False},
            "fail",
            (
                "trainers: sku.name=Standard_A0: capacity of this size cannot be reserved; use a size of a current "
                "family [azure-reservation-size]"
            ),
        ),
        (
            "unknown",
            {"type_name": "Standard_ND96asr_v4", "supported": None},
            "unverified",
            (
                "trainers: sku.name=Standard_ND96asr_v4: not verified: whether capacity of it can be reserved is "
                "not known; ask az vm list-skus --size Standard_ND96asr_v4 for CapacityReservationSupported "
                "[azure-reservation-size]"
            ),
        ),
    ],
    reservation_fits: [
        ("not-told", {"type_name": "Standard_ND96asr_v4", "reserved": ()}, "pass", ""),
        (
            "reserved",
            {"type_name": "Standard_ND96asr_v4", "reserved": ("Standard_ND96isr_H100_v5", "Standard_ND96asr_v4")},
            "pass",
            "",
        ),
        ("other-case", {"type_name": "Standard_ND96asr_v4", "reserved": ("STANDARD_ND96ASR_V4",)}, "pass", ""),
        (
            "other",
            {
                "type_name": "Standard_ND96asr_v4",
                "reserved": ("Standard_NC4as_T4_v3", "Standard_ND96isr_H100_v5", "Standard_ND96isr_H100_v5"),
            },
            "fail",
            (
                "trainers: types=Standard_ND96asr_v4: its capacity reservation group holds Standard_NC4as_T4_v3 "
                "and Standard_ND96isr_H100_v5; reserve this size, or use one that is reserved "
                "[azure-reservation-fits]"
            ),
        ),
    ],
    spot_mpi: [
        (
            "together",
            {"capacity": "spot", "together": True},
            "fail",
            (
                "trainers: capacity=spot: one evicted node stops the job on all nodes; use on-demand nodes, or "
                "save checkpoints often [azure-capacity-spot-mpi]"
            ),
        ),
        ("apart", {"capacity": "spot", "together": False}, "pass", ""),
        ("on-demand", {"capacity": "on-demand", "together": True}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
