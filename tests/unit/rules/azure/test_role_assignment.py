"""Cases of gpufleet.rules.azure.role_assignment."""

from gpufleet.rules.azure.role_assignment import principal_type_given

CASES = {
    principal_type_given: [
        ("given", {"given": True, "new": True}, "pass", ""),
        ("old", {"given": False, "new": False}, "pass", ""),
        (
            "new",
            {"given": False, "new": True},
            "fail",
            (
                "trainers: principal_type=null: is missing, and the directory may not know the new identity yet; set "
                "principal_type=ServicePrincipal [azure-role-principal-type]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
