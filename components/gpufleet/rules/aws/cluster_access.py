"""Rules on who reaches a cluster, and under which name."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules.coerce import flag, mapping, text, texts
from gpufleet.rules.kubernetes.network_policy import version_enforces
from gpufleet.rules.messages import use_one_of
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

PRINCIPAL = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+")
CLUSTER_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")


@rule("aws-cluster-administered", Severity.ERROR)
def administered(*, creator_is_admin: bool, admins: Sequence[str]) -> Outcome:
    """The cluster has an administrator: with access entries, not even the account's root user has access by default.

    Source: docs.aws.amazon.com/eks/latest/userguide/access-entries.html
    """
    if creator_is_admin or admins:
        return passed()
    return failed("creator_is_admin", False, "nobody would administer the cluster", "name admins, or set it to true")


@rule("aws-cluster-api-reached", Severity.WARNING)
def api_reached(*, public_access_cidrs: Sequence[str], phase: str = "", own_servers: bool = False) -> Outcome:
    """A program that installs software on a cluster must reach its API: a private endpoint answers inside the VPC only.

    From elsewhere `up` fails a quarter of an hour in, at the first object on the new cluster. `phase`: as it is given,
    "" where it is not. `own_servers`: they join the cluster over a line, which that `up` only makes; with them a public
    endpoint is rejected [aws-hybrid-endpoint].
    Source: https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html (private only: no public access).
    """
    if public_access_cidrs or phase:
        return passed()
    if own_servers:
        problem = "installs on the cluster, whose API is reachable from the VPC and over the line to the site only"
        fix = "use cloud until `gpufleet link` says that the line is up, then cluster"
        return failed("phase", "not given", problem, fix)
    fix = "run `pulumi up` and `gpufleet jobs` in it (a VPN, a runner there), or list your address, as 203.0.113.7/32"
    return failed("public_access_cidrs", [], "the cluster's API is reachable from inside the VPC only", fix)


@rule("aws-cluster-admin-principal", Severity.ERROR)
def principal_is_iam(*, name: str, principal: str) -> Outcome:
    """An administrator is given by the ARN of an IAM role or user; a session of an assumed role is rejected.

    Source: docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
    """
    if PRINCIPAL.fullmatch(principal):
        return passed()
    problem = "is a session" if ":assumed-role/" in principal else "is not an IAM role or user"
    fix = "use the role's own ARN, arn:aws:iam::<account>:role/<name>"
    return failed(f"admins.{name}", principal, problem, fix)


@rule("aws-cluster-name", Severity.ERROR)
def cluster_name_legal(*, cluster_name: str) -> Outcome:
    """A cluster's name has 1 to 100 letters, digits, hyphens and underscores, and begins with a letter or digit.

    Source: docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html (name)
    """
    if CLUSTER_NAME.fullmatch(cluster_name):
        return passed()
    fix = "use up to 100 letters, digits, - and _, beginning with a letter or digit"
    return failed("cluster_name", cluster_name, "is not a valid EKS cluster name", fix)


@rule("aws-cluster-addon", Severity.ERROR)
def addon_known(*, addon: str, known: Sequence[str]) -> Outcome:
    """A version is given for an add-on that the cluster has.

    Source: gpufleet.aws.addons
    """
    if addon in known:
        return passed()
    return failed("addon_versions", addon, "the cluster has no such add-on", use_one_of(addon, known))


@rule("aws-cluster-support", Severity.ERROR)
def support_known(*, support: str) -> Outcome:
    """The support policy is STANDARD or EXTENDED.

    Source: docs.aws.amazon.com/eks/latest/APIReference/API_UpgradePolicyRequest.html
    """
    legal = ("STANDARD", "EXTENDED")
    return (
        passed() if support in legal else failed("support", support, "is unknown", use_one_of(support.upper(), legal))
    )


def validate_cluster_access(args: Mapping[str, object], addons: Sequence[str]) -> list[Finding]:
    """Every finding. Reads admins, creator_is_admin, cluster_name, addon_versions (of ``addons``), support."""
    admins = mapping(args, "admins")
    findings = [administered(creator_is_admin=flag(args, "creator_is_admin", True), admins=sorted(admins))]
    findings += [
        principal_is_iam(name=name, principal=principal)
        for name, principal in sorted(admins.items())
        if isinstance(principal, str)
    ]
    cluster_name = args.get("cluster_name")
    if isinstance(cluster_name, str):
        findings.append(cluster_name_legal(cluster_name=cluster_name))
    versions = mapping(args, "addon_versions")
    findings += [addon_known(addon=addon, known=addons) for addon in sorted(versions)]
    # The component always enables network policies.
    findings.append(
        version_enforces(version=text(versions, "vpc-cni"), enabled=True, argument="addon_versions.vpc-cni")
    )
    support = args.get("support")
    if isinstance(support, str):
        findings.append(support_known(support=support))
    return findings


def validate_installation(args: Mapping[str, object]) -> list[Finding]:
    """Findings on installing software on the cluster of these arguments. Reads public_access_cidrs, phase,
    own_servers (any value: they join)."""
    cidrs, phase = texts(args, "public_access_cidrs"), text(args, "phase")
    return [api_reached(public_access_cidrs=cidrs, phase=phase, own_servers="own_servers" in args)]
