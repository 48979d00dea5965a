"""Cases of gpufleet.rules.azure.subscription."""

from gpufleet.rules.azure.subscription import size_unrestricted

SIZE = "Standard_ND96isr_H100_v5"
CLOSED = "NotAvailableForSubscription"


def pool(zones=(), offered=("1", "2"), restrictions=()):
    return {"size": SIZE, "region": "eastus", "zones": zones, "offered": offered, "restrictions": restrictions}


CASES = {
    size_unrestricted: [
        ("open", pool(("1",)), "pass", ""),
        ("no-zones-asked-for", pool((), (), ()), "pass", ""),
        ("another-zone-is-closed", pool(("1",), restrictions=[("Zone", CLOSED, ("2",))]), "pass", ""),
        (
            "closed",
            pool(restrictions=[("Location", CLOSED, ())]),
            "fail",
            (
                f"trainers: types={SIZE}: eastus: {CLOSED}; ask for access by a support request (Service and "
                "subscription limits), which takes days, or use another size or region [azure-size-unrestricted]"
            ),
        ),
        (
            "zone-closed",
            pool(("1", "2"), restrictions=[("Zone", CLOSED, ("2",))]),
            "fail",
            (
                f"trainers: zones=[1, 2]: {SIZE} in zone 2 of eastus: {CLOSED}; ask for access by a support request "
                "(Service and subscription limits), which takes days, or use another zone: 1 [azure-size-unrestricted]"
            ),
        ),
        (
            "every-zone-closed",
            pool(("1",), restrictions=[("Zone", CLOSED, ("1", "2"))]),
            "fail",
            (
                f"trainers: zones=[1]: {SIZE} in zone 1 of eastus: {CLOSED}; ask for access by a support request "
                "(Service and subscription limits), which takes days, or use another zone [azure-size-unrestricted]"
            ),
        ),
        (
            "zone-without-it",
            pool(("3",)),
            "fail",
            f"trainers: zones=[3]: zone 3 of eastus has no {SIZE}; use zone 1 or 2 [azure-size-unrestricted]",
        ),
        (
            "region-without-zones",
            pool(("1",), ()),
            "fail",
            (
                f"trainers: zones=[1]: zone 1 of eastus has no {SIZE}; leave the zones out, or use another size "
                "[azure-size-unrestricted]"
            ),
        ),
        (
            "unknown",
            pool(("1",), None, None),
            "unverified",
            (
                f"trainers: types={SIZE}: not verified: whether the subscription may use it in eastus is not known; "
                f"look with `az vm list-skus --location eastus --size {SIZE} --all` [azure-size-unrestricted]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
