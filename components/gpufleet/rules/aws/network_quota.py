"""The rule on what a network is made of: addresses, VPCs and gateways, of which an account may hold so many."""

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

NAMES = {
    "elastic_ips": "Elastic IPs",
    "vpcs": "VPCs",
    "internet_gateways": "internet gateways",
    "nat_gateways": "NAT gateways",
}
"""What is counted, as AWS calls it."""


@rule("aws-network-quota-enough", Severity.ERROR)
def network_quota_enough(
    *, counted: str, where: str, new: int, in_use: int | None, limit: int | None, quota: str
) -> Outcome:
    """What the account has and what the plan adds is within the account's limits on addresses, VPCs and gateways.

    `counted` is one of elastic_ips, vpcs, internet_gateways and nat_gateways, `where` a region, or a zone for NAT
    gateways. In use are those of this stack too; `new` is what comes on top. `quota` names it to the AWS CLI.

    Source: https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html: five of each unless raised; found
    at run time only: hashicorp/terraform#6018 and aws/aws-parallelcluster#1734 (AddressLimitExceeded),
    terraform-aws-modules/terraform-aws-vpc#429 (VpcLimitExceeded), eksctl-io/eksctl#560 (NatGatewayLimitExceeded).
    """
    if new <= 0:
        return passed()
    one = new == 1
    name, are = f"new {NAMES[counted].removesuffix('s') if one else NAMES[counted]} in {where}", "is" if one else "are"
    if limit is not None and new + (in_use or 0) > limit:
        need = new + (in_use or 0)
        used = f"and {in_use} in use make {need}, which is" if in_use else are
        uncounted = ", what is in use not even counted," if in_use is None else ""
        problem = f"{new} {name}{uncounted} {used} above the limit of {limit}"
        request = f"`aws service-quotas request-service-quota-increase {quota} --desired-value {need}`"
        ways = [*_ways(counted, new, limit - (in_use or 0)), f"ask for {need} or more: {request}"]
        return failed(counted, new, problem, join_words(ways))
    look = f"compare with `aws service-quotas get-service-quota {quota}` and what the account holds"
    if limit is None:
        return unverified(counted, new, f"{new} {name} {are} needed, and the account's limit is not known", look)
    if in_use is None:
        problem = f"{new} {name} {are} needed, the limit is {limit}, and how many are in use is not known"
        return unverified(counted, new, problem, look)
    return passed()


def _ways(counted: str, new: int, free: int) -> list[str]:
    """What makes do with less. One NAT gateway is named only where it is one less, and fits."""
    if counted == "elastic_ips":
        single = ["make one NAT gateway for all zones (nat=single)"] if new > 1 and free >= 1 else []
        return ["release addresses that nobody uses", *single, "use a VPC that exists (vpc_id)"]
    if counted == "nat_gateways":
        elsewhere = "make one for all zones, in another zone (nat=single: in the first of zones)"
        return ["delete those that nobody uses", elsewhere, "use a VPC that exists (vpc_id)"]
    return ["delete those that nobody uses", "use a VPC that exists (vpc_id)"]
