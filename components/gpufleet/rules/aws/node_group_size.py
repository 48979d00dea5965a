"""Rules on the number of nodes of an EKS node group, beside those on any pool's."""

from gpufleet.catalog import aws
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

DEFAULT_NODES = 450
"""Nodes that a managed node group may have unless the quota is raised:
https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""
COUNTED = "nodes_per_node_group"
"""The quota's name in the catalog."""


@rule("aws-node-group-quota", Severity.ERROR)
def nodes_within_quota(*, most: int, limit: int | None, region: str) -> Outcome:
    """A node group has at most as many nodes as the account's quota L-BD136A63 says, by default 450.

    `limit` is None where the account has not been asked.
    Source: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html (nodes per managed node group,
    adjustable); awsdocs/amazon-eks-user-guide#291 has its code.
    """
    allowed = DEFAULT_NODES if limit is None else limit
    if most <= allowed:
        return passed()
    quota = aws().resource_quotas[COUNTED]
    which = f"--service-code {quota.service} --quota-code {quota.code} --region {region or 'REGION'}"
    request = f"`aws service-quotas request-service-quota-increase {which} --desired-value {most}`"
    split = f"make {-(-most // allowed)} pools of at most {allowed} (a job runs in one of them)"
    fix = f"{split}, or ask for {most}: {request}"
    if limit is None:
        default = f"EKS allows {allowed} nodes in a node group by default"
        return unverified("max", most, f"{default}, and whether the account has more is not known", fix)
    return failed("max", most, f"EKS allows this account {allowed} nodes in a node group", fix)


@rule("aws-node-group-live-minimum", Severity.ERROR)
def live_minimum(*, stands: bool, least: int, desired: int, cluster: str, group: str) -> Outcome:
    """The minimum of an existing node group is not above its number of nodes, which the autoscaler owns.

    `stands`: whether this is an update. `desired`: what the update sends, which is the state's number and not the
    program's, as the program ignores it.
    Source: terraform-aws-modules/terraform-aws-eks#748, #3306 (InvalidParameterException: Minimum capacity 8 can't be
    greater than desired size 4); hashicorp/terraform-provider-aws#18310.
    """
    if not stands or least <= desired:
        return passed()
    problem = f"EKS rejects a minimum above the {desired} nodes that the group has by the state, which the update sends"
    raise_it = (
        f"`aws eks update-nodegroup-config --cluster-name {cluster} --nodegroup-name {group} "
        f"--scaling-config desiredSize={least}`"
    )
    return failed("min", least, problem, f"raise the nodes first: {raise_it}, then `pulumi up --refresh`")
