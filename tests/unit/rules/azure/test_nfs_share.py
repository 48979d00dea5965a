"""Cases of gpufleet.rules.azure.nfs_share."""

from gpufleet.rules.azure.nfs_share import nfs_share_size

NO_SIZE = "trainers: gib={}: is not a valid size of a premium file share; use 100 to 102400 [azure-nfs-share-size]"

CASES = {
    nfs_share_size: [
        ("least", {"gib": 100}, "pass", ""),
        ("most", {"gib": 102400}, "pass", ""),
        ("below", {"gib": 99}, "fail", NO_SIZE.format(99)),
        ("above", {"gib": 102401}, "fail", NO_SIZE.format(102401)),
    ],
}


def test_case(case):
    case.check()
