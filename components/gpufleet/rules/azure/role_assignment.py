"""The rule on role assignments of Azure."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule


@rule("azure-role-principal-type", Severity.WARNING)
def principal_type_given(*, given: bool, new: bool) -> Outcome:
    """A role of an identity that is made along with it says that it is for a service principal; `new`: made along.

    Source: Azure/HubAndSpokeResearchEnclave#50, pulumi/pulumi-azure#142: PrincipalNotFound, as the directory may not
    know the identity yet; https://aka.ms/docs-principaltype
    """
    if given or not new:
        return passed()
    problem = "is missing, and the directory may not know the new identity yet"
    return failed("principal_type", None, problem, "set principal_type=ServicePrincipal")
