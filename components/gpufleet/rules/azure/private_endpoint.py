"""Rules on private endpoints of Azure."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule


@rule("azure-private-endpoint-place", Severity.ERROR)
def endpoint_place(*, argument: str, given: bool) -> Outcome:
    """A private endpoint has a subnet to lie in and a virtual network that finds it by name; `argument` is either.

    Source: https://learn.microsoft.com/azure/private-link/private-endpoint-overview: an endpoint is an address of a
    subnet; https://learn.microsoft.com/azure/private-link/private-endpoint-dns: without a zone linked to the network
    the service's name still leads to its public address, which is closed.
    """
    if given:
        return passed()
    what = "subnet" if argument == "endpoint_subnet_id" else "virtual network"
    return failed(argument, None, f"a private endpoint needs a {what}", f"give the id of the {what}")
