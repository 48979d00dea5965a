"""Validation of Azure Batch accounts."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.azure.batch_service import auto_storage_identity
from gpufleet.rules.azure.names import account_name
from gpufleet.rules.azure.storage import storage_near_pool
from gpufleet.rules.rule import Finding

AUTO_STORAGE = "BatchAccountManagedIdentity"
"""How the account reaches its storage: by identity, as keys may be switched off there."""


def validate_azure_batch_account(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a Batch account, passes included. Never raises, whatever the values.

    Reads region, account_name, identity_id, storage_account_id (given or not) and storage_region.
    """
    findings: list[Finding] = []
    if args.get("account_name") is not None:
        findings.append(account_name(name=coerce.text(args, "account_name"), what="Batch"))
    if args.get("storage_account_id") is not None:
        has_identity = args.get("identity_id") is not None
        said = coerce.text(args, "storage_account_id")
        findings += [
            auto_storage_identity(mode=AUTO_STORAGE, has_identity=has_identity),
            storage_near_pool(
                argument="storage_account_id",
                account=said.rpartition("/")[2] or "(an account)",
                region=coerce.text(args, "storage_region") or None,
                pool_region=coerce.text(args, "region") or None,
            ),
        ]
    return findings
