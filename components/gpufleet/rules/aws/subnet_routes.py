"""Rules on the routes of a subnet with nodes, as a program's resources make them."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

NAT = "nat"
ENDPOINTS = "endpoints"
INTERNET = "internet"
NOWHERE = "nowhere"
CLOSED_NAT = "closed-nat"


@rule("aws-subnet-way-out", Severity.ERROR)
def subnet_way_out(*, subnet: str, way: str | None, public_addresses: bool | None) -> Outcome:
    """A subnet with nodes has a route to EKS, ECR and EC2: NAT, interface endpoints, or addresses of the internet.

    `way`: nat (any default route but to an internet gateway), closed-nat (to a NAT gateway in a subnet that has no
    route to an internet gateway), endpoints, internet or nowhere; None where it cannot be told. `public_addresses`: of
    the nodes, None where it cannot be told.
    Source: terraform-aws-modules/terraform-aws-eks#2474 and #1910: NodeCreationFailure: Instances failed to join the
    kubernetes cluster, after 20 minutes and more; HHS/simpler-grants-gov#1062: NAT gateways in private subnets, which
    EC2 makes without a word.
    """
    fix = "route 0.0.0.0/0 to a NAT gateway, or add interface endpoints for ec2, ecr.api, ecr.dkr, eks and sts"
    if way in (NAT, ENDPOINTS) or (way == INTERNET and public_addresses):
        return passed()
    if way is None or (way == INTERNET and public_addresses is None):
        return unverified("subnet_ids", subnet, "whether nodes get out of it is not known from the program", fix)
    if way == INTERNET:
        problem = "its default route is an internet gateway, which nodes without public addresses cannot use"
        return failed("subnet_ids", subnet, problem, fix)
    if way == CLOSED_NAT:
        problem = "its NAT gateway lies in a subnet without a route to an internet gateway, so that nodes never join"
        return failed("subnet_ids", subnet, problem, "put the NAT gateway into a public subnet")
    return failed("subnet_ids", subnet, "has no default route, so that nodes never join", fix)
