"""Rules on the key vault of a job's secrets."""

import re
from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_VAULT = re.compile(
    r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.KeyVault/vaults/[A-Za-z][A-Za-z0-9-]{1,22}[A-Za-z0-9]",
    re.IGNORECASE,
)


@rule("azure-key-vault-id", Severity.ERROR)
def vault_id(*, vault: str) -> Outcome:
    """A key vault is named by its resource id: roles are given on it, and its address follows from it.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftkeyvault
    """
    if _VAULT.fullmatch(vault):
        return passed()
    fix = "give the id that `az keyvault show --name VAULT --query id` prints"
    return failed("key_vault_id", vault, "is not the resource id of a key vault", fix)


def validate_node_identity(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the identity of nodes. Reads region, resource_group_name, tags, key_vault_id (if plain)."""
    vault = args.get("key_vault_id")
    form = [vault_id(vault=coerce.text(args, "key_vault_id"))] if isinstance(vault, str) else []
    return [*validate_azure_location(args), *form]
