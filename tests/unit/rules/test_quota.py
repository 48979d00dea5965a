"""Cases of gpufleet.rules.quota."""

from gpufleet.rules.quota import quota_enough

ASK = {"ask": "`ask --value {value}`", "look": "look there"}
CORES = ASK | {"quota": "dedicated cores of all families of Batch account train"}


def nc6(most, limit=24, in_use=0):
    """Standard_NC6 has 6 cores."""
    return CORES | {"limit": limit, "in_use": in_use, "pools": [("trainers", most, 6)]}


def two(limit, in_use):
    return CORES | {"limit": limit, "in_use": in_use, "pools": [("large", 2, 96), ("small", 4, 4)]}


CASES = {
    quota_enough: [
        ("four-nodes-of-six-cores", nc6(4), "pass", ""),
        (
            "the-fifth-node",
            nc6(5),
            "fail",
            (
                "trainers: pools={trainers: 5 x 6}: 30 dedicated cores of all families of Batch account train at the "
                "peak are above the limit of 24; ask for 30 or more, which takes days: `ask --value 30`; until then "
                "trainers.max=4 fits [any-quota-enough]"
            ),
        ),
        ("one-core-short-of-in-use", nc6(3, in_use=6), "pass", ""),
        (
            "one-core-in-use-too-many",
            nc6(3, in_use=7),
            "fail",
            (
                "trainers: pools={trainers: 3 x 6}: 18 dedicated cores of all families of Batch account train at the "
                "peak and 7 in use make 25, which is above the limit of 24; ask for 25 or more, which takes days: "
                "`ask --value 25`; until then trainers.max=2 fits [any-quota-enough]"
            ),
        ),
        (
            "no-node-fits",
            nc6(1, limit=0),
            "fail",
            (
                "trainers: pools={trainers: 1 x 6}: 6 dedicated cores of all families of Batch account train at the "
                "peak are above the limit of 0; ask for 6 or more, which takes days: `ask --value 6`; until then no "
                "node fits [any-quota-enough]"
            ),
        ),
        ("several-pools", two(208, 0), "pass", ""),
        (
            "several-pools-too-many",
            two(207, 0),
            "fail",
            (
                "trainers: pools={large: 2 x 96, small: 4 x 4}: 208 dedicated cores of all families of Batch account "
                "train at the peak are above the limit of 207; ask for 208 or more, which takes days: "
                "`ask --value 208`; until then large.max=1 or small.max=3 fits [any-quota-enough]"
            ),
        ),
        (
            "one-pool-alone-is-too-much",
            two(90, 0),
            "fail",
            (
                "trainers: pools={large: 2 x 96, small: 4 x 4}: 208 dedicated cores of all families of Batch account "
                "train at the peak are above the limit of 90; ask for 208 or more, which takes days: "
                "`ask --value 208`; until then no pool fits beside the others [any-quota-enough]"
            ),
        ),
        (
            "limit-unknown",
            nc6(4, limit=None),
            "unverified",
            (
                "trainers: pools={trainers: 4 x 6}: not verified: 24 dedicated cores of all families of Batch account "
                "train are needed at the peak, and the account's limit is not known; look there [any-quota-enough]"
            ),
        ),
        (
            "use-unknown",
            nc6(4, in_use=None),
            "unverified",
            (
                "trainers: pools={trainers: 4 x 6}: not verified: 24 dedicated cores of all families of Batch account "
                "train are needed at the peak, the limit is 24, and how many are in use is not known; look there "
                "[any-quota-enough]"
            ),
        ),
        (
            "use-unknown-but-the-peak-alone-is-too-much",
            nc6(5, in_use=None),
            "fail",
            (
                "trainers: pools={trainers: 5 x 6}: 30 dedicated cores of all families of Batch account train at the "
                "peak, what is in use not even counted, are above the limit of 24; ask for 30 or more, which takes "
                "days: `ask --value 30`; until then trainers.max=4 fits [any-quota-enough]"
            ),
        ),
        (
            "number-of-nodes-unknown",
            nc6(None),
            "unverified",
            (
                "trainers: pools={trainers: ? x 6}: not verified: how many dedicated cores of all families of Batch "
                "account train trainers may need is not known; look there [any-quota-enough]"
            ),
        ),
        (
            "the-known-pool-alone-is-too-much",
            CORES | {"limit": 24, "in_use": 0, "pools": [("a", 5, 6), ("b", 1, None)]},
            "fail",
            (
                "trainers: pools={a: 5 x 6, b: 1 x ?}: 30 dedicated cores of all families of Batch account train at "
                "the peak are above the limit of 24; ask for 30 or more, which takes days: `ask --value 30`; until "
                "then a.max=4 fits [any-quota-enough]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
