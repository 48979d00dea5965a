"""Rules on names that Azure allows."""

import re

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

_ACCOUNT = re.compile(r"[a-z0-9]{3,24}")
_REGISTRY = re.compile(r"[a-zA-Z0-9]{5,50}")
_AGENT_POOL = re.compile(r"[a-z][a-z0-9]{0,11}")
MOST_LETTERS = {"Linux": 12, "Windows": 6}


@rule("azure-account-name", Severity.ERROR)
def account_name(*, name: str, what: str) -> Outcome:
    """The name of a storage account or Batch account has 3 to 24 lower-case letters and digits.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules; AccountNameInvalid.
    """
    if _ACCOUNT.fullmatch(name):
        return passed()
    fix = "use 3 to 24 lower-case letters and digits, without hyphens"
    return failed("account_name", name, f"is not a valid {what} account name", fix)


@rule("azure-registry-name", Severity.ERROR)
def registry_name(*, name: str) -> Outcome:
    """The name of a container registry has 5 to 50 letters and digits.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
    """
    if _REGISTRY.fullmatch(name):
        return passed()
    return failed(
        "registry_name", name, "is not a valid registry name", "use 5 to 50 letters and digits, without hyphens"
    )


@rule("azure-agent-pool-name", Severity.ERROR)
def agent_pool_name(*, name: str, system: str) -> Outcome:
    """The name of an AKS agent pool has 1 to 12 (Windows: 6) lower-case letters and digits, a letter first.

    Source: Azure/AKS#3300, kubernetes-sigs/cluster-api-provider-azure#3968: InvalidParameter, The value of parameter
    agentPoolProfile.name is invalid; Pulumi's automatic names are longer.
    """
    most = MOST_LETTERS.get(system, MOST_LETTERS["Linux"])
    if _AGENT_POOL.fullmatch(name) and len(name) <= most:
        return passed()
    fix = f"use 1 to {most} lower-case letters and digits, a letter first"
    return failed("agent_pool_name", name, "is not a valid AKS agent pool name", fix)
