"""Rules on accounts and pools of Azure Batch: slots, what is retired, addresses, tags."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

MOST_SLOTS = 256
OLDEST_API = "2025-06-01"
DEFAULT_API = "2024-07-01"


@rule("azure-batch-slots-most", Severity.ERROR)
def slots_most(*, slots: int, vcpus: int | None) -> Outcome:
    """A node has at most four task slots for each of its cores, and 256; `vcpus` is None where those are not known.

    Source: taskSlotsPerNode of Microsoft.Batch/batchAccounts/pools 2024-07-01.
    """
    if slots < 1:
        return failed("task_slots_per_node", slots, "is below 1", "use 1 or more")
    limit = MOST_SLOTS if vcpus is None else min(MOST_SLOTS, 4 * vcpus)
    if slots <= limit:
        if slots <= 4 or vcpus is not None:
            return passed()
        problem = "the cores of the size are not known, and each has at most four slots"
        return unverified("task_slots_per_node", slots, problem, "make sure that the size has enough cores")
    return failed("task_slots_per_node", slots, f"is above the {limit} that Batch allows", f"use {limit} or fewer")


@rule("azure-batch-communication", Severity.ERROR)
def communication(*, mode: str) -> Outcome:
    """A Batch pool does not ask for the classic node communication, which is retired since 31 March 2026.

    Source: https://learn.microsoft.com/azure/batch/batch-pools-to-simplified-compute-node-communication-model-migration-guide
    """
    if mode.lower() != "classic":
        return passed()
    problem = "classic node communication is retired since 2026-03-31"
    return failed("target_node_communication_mode", mode, problem, "use Simplified")


@rule("azure-batch-certificates", Severity.ERROR)
def certificates(*, count: int) -> Outcome:
    """A Batch pool has no certificates, which are retired since February 2024.

    Source: https://learn.microsoft.com/azure/batch/batch-certificate-migration-guide
    """
    if count == 0:
        return passed()
    problem = "certificates of pools are retired since 2024-02-29"
    return failed("certificates", count, problem, "take them from a key vault by its extension, or use an identity")


@rule("azure-batch-retained-data", Severity.WARNING)
def retained_data(*, option: str) -> Outcome:
    """Nodes that leave a pool do not wait for retained data, an option that Azure removes.

    Source: Azure/azure-rest-api-specs#44528: RetainedData is removed in API version 2026-08-01.
    """
    if option.lower() != "retaineddata":
        return passed()
    problem = "newer API versions no longer accept it"
    return failed("node_deallocation_option", option, problem, "use TaskCompletion")


@rule("azure-batch-resource-tags", Severity.ERROR)
def resource_tags(*, count: int, allocation: str | None) -> Outcome:
    """Tags for the machines of a Batch pool are given in the user's own subscription only; None: mode not known.

    Source: resourceTags of Microsoft.Batch/batchAccounts/pools 2024-07-01.
    """
    if count == 0 or allocation == "UserSubscription":
        return passed()
    fix = "leave them out and tag the account, or use an account with pool_allocation_mode=UserSubscription"
    if allocation is None:
        return unverified("resource_tags", count, "the mode of the Batch account is not known", fix)
    return failed("resource_tags", count, f"are not taken in {allocation} mode", fix)


@rule("azure-batch-api-version", Severity.WARNING)
def api_version(*, version: str | None) -> Outcome:
    """A resource of Batch is made with an API version that stays; `version` is None for the SDK's default.

    Source: Azure/Batch#140: API versions prior to 2025-06-01 are retired; azure-native 3.29.0 has 2024-07-01.
    """
    said = version or DEFAULT_API
    if said[:10] >= OLDEST_API:
        return passed()
    default = "" if version else "is the default of azure-native, and "
    problem = f"{default}Batch retires API versions before {OLDEST_API}"
    fix = f"run pulumi package add azure-native batch {OLDEST_API}, and use that package"
    return failed("api_version", said, problem, fix)


@rule("azure-batch-auto-storage-identity", Severity.ERROR)
def auto_storage_identity(*, mode: str, has_identity: bool) -> Outcome:
    """A Batch account that reaches its storage by identity has one.

    Source: https://learn.microsoft.com/azure/batch/managed-identity-pools and authenticationMode
    BatchAccountManagedIdentity of Microsoft.Batch/batchAccounts 2024-07-01.
    """
    if mode != "BatchAccountManagedIdentity" or has_identity:
        return passed()
    problem = "the Batch account has no identity"
    return failed("auto_storage.authentication_mode", mode, problem, "give it identity.type=SystemAssigned")


@rule("azure-batch-private-subnet", Severity.ERROR)
def private_subnet(*, provision: str, has_subnet: bool) -> Outcome:
    """A Batch pool without public addresses lies in a subnet.

    Source: https://learn.microsoft.com/azure/batch/simplified-node-communication-pool-no-public-ip: a virtual network
    is a prerequisite.
    """
    if provision != "NoPublicIPAddresses" or has_subnet:
        return passed()
    problem = "a pool without public addresses must be in a subnet"
    return failed(
        "public_ip_address_configuration.provision", provision, problem, "give network_configuration.subnet_id"
    )


@rule("azure-batch-vault", Severity.ERROR)
def vault_given(*, allocation: str, vault: bool) -> Outcome:
    """A Batch account that allocates nodes in the user's subscription has a key vault.

    Source: https://learn.microsoft.com/azure/batch/batch-account-create-portal (user subscription mode);
    MicrosoftDocs/azure-docs#47378
    """
    if allocation != "UserSubscription" or vault:
        return passed()
    fix = "give the vault, in which Microsoft Azure Batch may read and write secrets, or use BatchService"
    return failed("pool_allocation_mode", allocation, "needs key_vault_reference", fix)
