"""Rules on the subnets of a Fargate profile."""

from gpufleet.rules.aws.subnet_routes import INTERNET
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("aws-fargate-subnet-private", Severity.ERROR)
def subnet_private(*, subnet: str, way: str | None) -> Outcome:
    """A Fargate profile has private subnets only: none with a route to an internet gateway.

    way: as `gpufleet.rules.aws.subnet_routes` has it, None where it is not known.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/fargate-profile.html; awslabs/eks-perf-tests#195
    (InvalidParameterException: Subnet ... provided in Fargate Profile is not a private subnet).
    """
    fix = "use a subnet whose default route is a NAT gateway"
    if way is None:
        return unverified("subnet_ids", subnet, "the program does not show where its default route leads", fix)
    if way == INTERNET:
        return failed("subnet_ids", subnet, "is a public subnet, and Fargate takes private ones only", fix)
    return passed()
