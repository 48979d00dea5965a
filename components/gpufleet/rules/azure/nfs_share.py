"""Rules on premium file shares with NFS."""

import re
from collections.abc import Mapping

from gpufleet.rules import read
from gpufleet.rules.plain import legal_word
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

DEFAULT_GIB = 100
REDUNDANCIES = ("Premium_LRS", "Premium_ZRS")
_LEAST, _MOST = 100, 102400
_NAME = re.compile(r"[a-z0-9](?!.*--)[a-z0-9-]{1,61}[a-z0-9]")


@rule("azure-share-size", Severity.ERROR)
def share_size(*, gib: int) -> Outcome:
    """A premium file share has 100 to 102400 GiB.

    Source: https://learn.microsoft.com/azure/storage/files/understanding-billing (provisioned v1 model)
    """
    if _LEAST <= gib <= _MOST:
        return passed()
    return failed("gib", gib, "is no size of a premium file share", f"use {_LEAST} to {_MOST}")


@rule("azure-share-name", Severity.ERROR)
def share_name(*, name: str) -> Outcome:
    """A share's name has 3 to 63 small letters, digits and single hyphens.

    Source: https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-shares--directories--files--and-metadata
    """
    if _NAME.fullmatch(name):
        return passed()
    fix = "use 3 to 63 small letters, digits and single hyphens, a letter or digit first and last"
    return failed("share", name, "is no name of a share", fix)


@rule("azure-share-clients", Severity.ERROR)
def share_clients(*, clients: int) -> Outcome:
    """A share with NFS names the subnets that mount it.

    Source: https://learn.microsoft.com/azure/storage/files/files-nfs-protocol: NFS has no credentials, and only
    networks that the account trusts can mount.
    """
    if clients:
        return passed()
    return failed("client_subnet_ids", {}, "nobody could mount it", "give the subnet of the nodes")


def judge_nfs_share(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a share. Reads share, gib, redundancy, client_subnet_ids."""
    redundancy = read.text(args, "redundancy", REDUNDANCIES[0])
    return [
        share_size(gib=read.whole(args, "gib", DEFAULT_GIB)),
        share_name(name=read.text(args, "share", "shared")),
        legal_word(argument="redundancy", word=redundancy, legal=REDUNDANCIES),
        share_clients(clients=len(read.mapping(args, "client_subnet_ids"))),
    ]
