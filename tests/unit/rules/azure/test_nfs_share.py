"""Cases of gpufleet.rules.azure.nfs_share."""

from gpufleet.rules.azure.nfs_share import share_clients, share_name, share_size

NO_NAME = (
    "trainers: share={}: is no name of a share; use 3 to 63 small letters, digits and single hyphens, a letter or "
    "digit first and last [azure-share-name]"
)

CASES = {
    share_size: [
        ("least", {"gib": 100}, "pass", ""),
        ("most", {"gib": 102400}, "pass", ""),
        (
            "below",
            {"gib": 99},
            "fail",
            "trainers: gib=99: is no size of a premium file share; use 100 to 102400 [azure-share-size]",
        ),
        (
            "above",
            {"gib": 102401},
            "fail",
            "trainers: gib=102401: is no size of a premium file share; use 100 to 102400 [azure-share-size]",
        ),
    ],
    share_name: [
        ("plain", {"name": "shared"}, "pass", ""),
        ("hyphens", {"name": "a-b-3"}, "pass", ""),
        ("longest", {"name": "a" * 63}, "pass", ""),
        ("shortest", {"name": "abc"}, "pass", ""),
        ("too long", {"name": "a" * 64}, "fail", NO_NAME.format("a" * 64)),
        ("too short", {"name": "ab"}, "fail", NO_NAME.format("ab")),
        ("two hyphens", {"name": "a--b"}, "fail", NO_NAME.format("a--b")),
        ("capitals", {"name": "Shared"}, "fail", NO_NAME.format("Shared")),
        ("hyphen last", {"name": "shared-"}, "fail", NO_NAME.format("shared-")),
    ],
    share_clients: [
        ("one", {"clients": 1}, "pass", ""),
        (
            "none",
            {"clients": 0},
            "fail",
            "trainers: client_subnet_ids={}: nobody could mount it; give the subnet of the nodes [azure-share-clients]",
        ),
    ],
}


def test_case(case):
    case.check()
