"""Rules on the storage account that a fleet keeps its data in: containers, shares, and who reaches them."""

import ipaddress
import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.azure.names import account_name
from gpufleet.rules.azure.private_endpoint import endpoint_place
from gpufleet.rules.azure.storage import nfs_namespace
from gpufleet.rules.azure.tags import MOST, MOST_ON_DNS
from gpufleet.rules.generic import allowed_choice, distinct
from gpufleet.rules.private_ranges import RFC_1918
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

ACCESS = ("service-endpoint", "private-endpoint")
REDUNDANCY = ("Standard_LRS", "Standard_ZRS", "Standard_GRS", "Standard_RAGRS", "Standard_GZRS", "Standard_RAGZRS")
OF_NFS = REDUNDANCY[:2]
LARGEST_SHARE = 102400
MOST_DAYS = 365
_CONTAINER = re.compile(r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")
_WIDEST = 8


@rule("azure-files-name", Severity.ERROR)
def container_name(*, argument: str, name: str) -> Outcome:
    """Containers and shares are called by 3 to 63 lower-case letters, digits and single hyphens; `argument`: which.

    Source: https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
    (InvalidResourceName); shares have the same rules.
    """
    if _CONTAINER.fullmatch(name):
        return passed()
    fix = "use 3 to 63 lower-case letters, digits and single hyphens, a letter or digit first and last"
    return failed(argument, name, "is not a valid Azure Storage name", fix)


@rule("azure-files-share-size", Severity.ERROR)
def share_size(*, gib: int) -> Outcome:
    """A standard file share has 1 to 102,400 GiB.

    Source: https://learn.microsoft.com/azure/storage/files/storage-files-scale-targets: 100 TiB.
    """
    if 1 <= gib <= LARGEST_SHARE:
        return passed()
    return failed("share_gib", gib, "is not a valid file share size", f"use 1 to {LARGEST_SHARE} GiB")


@rule("azure-files-retention", Severity.ERROR)
def retention(*, days: int) -> Outcome:
    """Deleted data is kept for up to 365 days; 0 means that it is not kept.

    Source: days of DeleteRetentionPolicy, Microsoft.Storage 2023-05-01: 1 to 365.
    """
    if 0 <= days <= MOST_DAYS:
        return passed()
    return failed("retention_days", days, "is not a valid retention period", f"use 0 to {MOST_DAYS}")


@rule("azure-files-clients", Severity.ERROR)
def clients(*, subnets: int, cidrs: int, nfs: bool) -> Outcome:
    """With service endpoints the account is reachable: from subnets, or from users' addresses; NFS allows subnets only.

    Source: https://learn.microsoft.com/azure/storage/common/storage-network-security: with the default action Deny
    everybody else gets 403 AuthorizationFailure; hashicorp/terraform-provider-azurerm#15968 for NFS.
    """
    if subnets or (cidrs and not nfs):
        return passed()
    fix = "give the subnets of the nodes, or use access=private-endpoint"
    if cidrs:
        return failed("client_subnet_ids", {}, "NFS has no credentials and is open to subnets only", fix)
    return failed("client_subnet_ids", {}, "lets nobody reach the files", fix)


@rule("azure-files-cidr", Severity.ERROR)
def allowed_cidr(*, cidr: str) -> Outcome:
    """Addresses outside the network from which people reach the files are public IPv4: single, or of /8 to /30.

    Source: https://learn.microsoft.com/azure/storage/common/storage-network-security-ip-address-range: /31 and /32 are
    not taken, nor are private ranges; ranges wider than /8 do not belong to an office.
    """
    fix = "use an address such as 203.0.113.7, or a range such as 203.0.113.0/24"
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError:
        return failed("allowed_cidrs", cidr, "is neither an IPv4 address nor a range", fix)
    if network.prefixlen < _WIDEST:
        return failed("allowed_cidrs", cidr, "opens the files to a large part of the internet", fix)
    if any(network.overlaps(private) for private in RFC_1918):
        return failed("allowed_cidrs", cidr, "is private, and Azure sees public addresses only", fix)
    if "/" in cidr and network.prefixlen > 30:
        fix = f"write {', '.join(str(each) for each in network)}, without /{network.prefixlen}"
        return failed("allowed_cidrs", cidr, "is a range of a size that Azure Storage rejects", fix)
    return passed()


@rule("azure-files-nfs-redundancy", Severity.ERROR)
def nfs_redundancy(*, nfs: bool, redundancy: str) -> Outcome:
    """A storage account with NFS 3.0 keeps its copies in one region.

    Source: https://learn.microsoft.com/azure/storage/blobs/network-file-system-protocol-known-issues
    """
    if not nfs or redundancy in OF_NFS:
        return passed()
    return failed("redundancy", redundancy, "is not available with NFS 3.0", "use Standard_LRS or Standard_ZRS")


def validate_azure_files(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a storage account.

    Reads region, resource_group_name, account_name, containers, shares, share_gib, hierarchical (default: as nfs),
    nfs, redundancy, access (service-endpoint, private-endpoint), client_subnet_ids, endpoint_subnet_id, vnet_id,
    allowed_cidrs, retention_days, tags. Ids may be anything that is not None.
    """
    nfs = coerce.flag(args, "nfs", False)
    redundancy = coerce.text(args, "redundancy", REDUNDANCY[0])
    access = coerce.text(args, "access", ACCESS[0])
    private = access == "private-endpoint"
    cidrs = coerce.texts(args, "allowed_cidrs")
    findings = [
        *validate_azure_location(args, MOST_ON_DNS if private else MOST),
        *_named("containers", coerce.texts(args, "containers")),
        *_named("shares", coerce.texts(args, "shares")),
        share_size(gib=coerce.whole(args, "share_gib", 100)),
        retention(days=coerce.whole(args, "retention_days", 7)),
        allowed_choice(argument="redundancy", word=redundancy, legal=REDUNDANCY),
        allowed_choice(argument="access", word=access, legal=ACCESS),
        nfs_namespace(nfs=nfs, hierarchical=coerce.flag(args, "hierarchical", nfs), argument="hierarchical"),
        nfs_redundancy(nfs=nfs, redundancy=redundancy),
        *(allowed_cidr(cidr=cidr) for cidr in cidrs),
        distinct(argument="allowed_cidrs", values=cidrs),
    ]
    if private:
        findings += [
            endpoint_place(argument=argument, given=args.get(argument) is not None)
            for argument in ("endpoint_subnet_id", "vnet_id")
        ]
    else:
        findings.append(clients(subnets=len(coerce.mapping(args, "client_subnet_ids")), cidrs=len(cidrs), nfs=nfs))
    name = args.get("account_name")
    return [*findings, account_name(name=name, what="storage")] if isinstance(name, str) else findings


def _named(argument: str, names: Sequence[str]) -> list[Finding]:
    return [
        *(container_name(argument=argument, name=name) for name in names),
        distinct(argument=argument, values=names),
    ]
