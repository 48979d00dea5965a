"""Rules on how AWS Batch chooses instances, and from which image they start."""

from gpufleet.rules.messages import use_one_of
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

ON_DEMAND = ("BEST_FIT_PROGRESSIVE", "BEST_FIT")
SPOT = ("SPOT_PRICE_CAPACITY_OPTIMIZED", "SPOT_CAPACITY_OPTIMIZED", "BEST_FIT_PROGRESSIVE")
WITH_FLEET_ROLE = "BEST_FIT"
_NO_DRIVER_FOR = ("p3.", "p3dn.", "g3.", "g3s.")


@rule("aws-batch-strategy", Severity.ERROR)
def strategy_legal(*, strategy: str, spot: bool, fleet_role: bool) -> Outcome:
    """The allocation strategy of an environment is one for the way its capacity is bought.

    fleet_role: whether it names a Spot Fleet role, without which Spot instances are not chosen by BEST_FIT.
    Source: allocationStrategy and spotIamFleetRole of botocore's model of batch;
    https://docs.aws.amazon.com/batch/latest/userguide/allocation-strategies.html
    """
    if strategy == WITH_FLEET_ROLE and spot and not fleet_role:
        problem = "requires a Spot Fleet role on spot"
        return failed("strategy", strategy, problem, f"use {SPOT[0]}, which needs none")
    if strategy in (*(SPOT if spot else ON_DEMAND), WITH_FLEET_ROLE):
        return passed()
    if not spot and strategy in SPOT:
        return failed("strategy", strategy, "is for spot only", f"use {ON_DEMAND[0]}, or capacity=spot")
    fix = use_one_of(strategy, SPOT if spot else ON_DEMAND)
    return failed("strategy", strategy, "is not a Batch allocation strategy", fix)


@rule("aws-batch-strategy-in-place", Severity.WARNING)
def updates_in_place(*, strategy: str) -> Outcome:
    """An environment's strategy lets its nodes be changed in place.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html: infrastructure
    updates want the service-linked role and any strategy but BEST_FIT, which is the default of the API.
    """
    if strategy != "BEST_FIT":
        return passed()
    problem = "makes nearly every change of the environment a replacement"
    return failed("strategy", strategy, problem, f"use {ON_DEMAND[0]}, or {SPOT[0]} on spot")


@rule("aws-batch-image-word", Severity.ERROR)
def image_name(*, image: str) -> Outcome:
    """The image of an environment is al2023 or the id of an image.

    Source: Ec2Configuration of botocore's model of batch: Batch's own image for GPUs on ECS is ECS_AL2023_NVIDIA.
    """
    if image == "bottlerocket":
        fix = "use al2023, or the id of your own image with the ECS agent (ami-...)"
        return failed("image", image, "is not an image that Batch has for GPUs", fix)
    return passed()


@rule("aws-batch-image-type", Severity.ERROR)
def image_drives(*, type_name: str, architecture: str, image_type: str) -> Outcome:
    """Batch's image for GPUs has a driver for the instance type; `image_type` is empty for an image of one's own.

    Source: ECS_AL2023_NVIDIA in Ec2Configuration of botocore's model of batch: not for Graviton, p3 and g3.
    """
    if image_type != "ECS_AL2023_NVIDIA":
        return passed()
    fix = "use another type, or your own image with the ECS agent (ami-...)"
    if architecture != "x86_64":
        return failed("types", type_name, f"is {architecture}, which {image_type} is not made for", fix)
    if type_name.startswith(_NO_DRIVER_FOR):
        return failed("types", type_name, f"has GPUs too old for the driver of {image_type}", fix)
    return passed()
