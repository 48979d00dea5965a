"""Rules on premium file shares with NFS."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.azure.names import account_name
from gpufleet.rules.azure.storage_files import clients, container_name
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

DEFAULT_GIB = 100
REDUNDANCIES = ("Premium_LRS", "Premium_ZRS")
LEAST_GIB = 100
MOST_GIB = 102400


@rule("azure-nfs-share-size", Severity.ERROR)
def nfs_share_size(*, gib: int) -> Outcome:
    """A premium file share has 100 to 102400 GiB.

    Source: https://learn.microsoft.com/azure/storage/files/understanding-billing (provisioned v1 model)
    """
    if LEAST_GIB <= gib <= MOST_GIB:
        return passed()
    return failed("gib", gib, "is not a valid size of a premium file share", f"use {LEAST_GIB} to {MOST_GIB}")


def validate_nfs_share(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a share.

    Reads region, resource_group_name, account_name, share, gib, redundancy, client_subnet_ids, tags.
    """
    redundancy = coerce.text(args, "redundancy", REDUNDANCIES[0])
    findings = [
        *validate_azure_location(args),
        nfs_share_size(gib=coerce.whole(args, "gib", DEFAULT_GIB)),
        container_name(argument="share", name=coerce.text(args, "share", "shared")),
        allowed_choice(argument="redundancy", word=redundancy, legal=REDUNDANCIES),
        clients(subnets=len(coerce.mapping(args, "client_subnet_ids")), cidrs=0, nfs=True),
    ]
    name = args.get("account_name")
    return [*findings, account_name(name=name, what="storage")] if isinstance(name, str) else findings
