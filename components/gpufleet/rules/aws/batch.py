"""Rules on AWS Batch: compute environments and queues."""

import re
from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

MOST_ENVIRONMENTS = 3


@rule("aws-batch-gpu-types", Severity.ERROR)
def gpu_types(*, with_gpus: Sequence[str], without: Sequence[str]) -> Outcome:
    """All instance types of a compute environment have GPUs, or none has.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/gpu-jobs.html: with other types among them a GPU job
    could get stuck in RUNNABLE.
    """
    if not with_gpus or not without:
        return passed()
    problem = f"have no GPUs beside {join_words(with_gpus, 'and')}, so GPU jobs get stuck in RUNNABLE"
    return failed("instance_types", list(without), problem, "make a compute environment for each")


@rule("aws-batch-max-vcpus", Severity.ERROR)
def max_vcpus_hold_one(*, max_vcpus: int, smallest: str, vcpus: int) -> Outcome:
    """The vCPUs of a compute environment are enough for one instance; `smallest` is its smallest type, with `vcpus`.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/troubleshooting.html#job_stuck_in_runnable
    """
    if max_vcpus >= vcpus:
        return passed()
    problem = f"is below the {vcpus} vCPUs of {smallest}, so that no job ever starts"
    return failed("max_vcpus", max_vcpus, problem, f"use a multiple of {vcpus}")


@rule("aws-batch-vcpus-left", Severity.WARNING)
def vcpus_left(*, max_vcpus: int, type_name: str, vcpus: int) -> Outcome:
    """The vCPUs of a compute environment of one instance type are a multiple of its vCPUs.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/allocation-strategies.html: Batch may exceed max vCPUs
    by one instance, or stays below; what is left over is never what was meant.
    """
    left = max_vcpus % vcpus
    if max_vcpus < vcpus or not left:
        return passed()
    whole = max_vcpus // vcpus
    problem = f"is {whole} x {type_name} and {left} vCPUs left over"
    return failed("max_vcpus", max_vcpus, problem, f"use {whole * vcpus} or {(whole + 1) * vcpus}")


@rule("aws-batch-instance-role", Severity.ERROR)
def instance_role(*, role: str | None) -> Outcome:
    """A compute environment of EC2 instances names an instance profile; `role` is None for none.

    Source: getmoto/moto#6470 (ClientException: Instance role is required); instanceRole of botocore's model of batch:
    the short name or the full ARN of an instance profile.
    """
    fix = "give the ARN of an instance profile (iam.InstanceProfile), not of its role"
    if role is None:
        return failed("instance_role", None, "Batch rejects an environment of instances without it", fix)
    if role.startswith("arn:") and ":role/" in role:
        return failed("instance_role", role, "is the ARN of a role, and instances take an instance profile", fix)
    return passed()


@rule("aws-batch-image", Severity.ERROR)
def image_fits(*, image_type: str, gpus: bool) -> Outcome:
    """Instances of Batch start from an image that new environments may still use, with a driver if they have GPUs.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/ecs-migration-2023.html: no new compute environments
    with Batch's Amazon Linux 2 images after 30 June 2026; outerbounds/terraform-aws-metaflow#29: GPU jobs stay
    RUNNABLE on the image without NVIDIA's driver.
    """
    fix = "use ECS_AL2023_NVIDIA" if gpus else "use ECS_AL2023"
    if image_type in ("ECS_AL2", "ECS_AL2_NVIDIA"):
        return failed("image_type", image_type, "is rejected for new compute environments since 2026-06-30", fix)
    if gpus and image_type == "ECS_AL2023":
        return failed("image_type", image_type, "has no driver for GPUs, so that their jobs stay RUNNABLE", fix)
    return passed()


@rule("aws-batch-name", Severity.WARNING)
def name_replaceable(*, name: str, logical: str) -> Outcome:
    """A compute environment has no fixed name; `name` is what it is to be called, `logical` its name in the program.

    Source: pulumi/pulumi-aws#6233: many changes replace the environment, which with a fixed name has to go first and
    cannot while a queue names it (found existing JobQueue relationship). Pulumi's own names end in seven digits.
    """
    if not name or re.fullmatch(re.escape(logical) + r"-[0-9a-f]{7}", name):
        return passed()
    return failed("name", name, "prevents its own replacement", "leave it out, or give name_prefix")


@rule("aws-batch-service-role", Severity.WARNING)
def service_role(*, given: bool) -> Outcome:
    """A compute environment uses the service-linked role.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html: with a role of your
    own nearly every change replaces it.
    """
    if not given:
        return passed()
    fix = "leave it out, so that Batch uses its service-linked role"
    return failed("service_role", "given", "makes nearly every change of the environment a replacement", fix)


@rule("aws-batch-service-role-ready", Severity.ERROR)
def service_role_ready(*, missed: Sequence[str]) -> Outcome:
    """A compute environment whose service role is made here waits for the policies of that role.

    missed: attachments and policies of the role, in the same program, that it does not wait for.

    Source: hashicorp/terraform-provider-aws#38050: INVALID: CLIENT_ERROR - User is not authorized to perform:
    ecs:DescribeClusters.
    """
    if not missed:
        return passed()
    problem = (
        "has no permissions yet when the environment is created, which then becomes INVALID: "
        f"{join_words(missed, 'and')} may come later"
    )
    return failed("service_role", "given", problem, "make the environment depend on them, or leave service_role out")


@rule("aws-batch-queue-environments", Severity.ERROR)
def queue_size(*, environments: int, argument: str = "compute_environment_orders") -> Outcome:
    """A job queue has one to three compute environments; `argument` is where they are named.

    Source: https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html: up to three.
    """
    if 1 <= environments <= MOST_ENVIRONMENTS:
        return passed()
    problem = "Batch allows 1 to 3 compute environments in a queue"
    return failed(argument, environments, problem, "make another queue, or one environment")


@rule("aws-batch-queue-kind", Severity.ERROR)
def queue_kind(*, markets: Sequence[str]) -> Outcome:
    """All compute environments of a queue are of EC2 instances, or all are Fargate; `markets` are their types.

    Source: https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html: EC2 and Fargate compute
    environments can't be mixed.
    """
    fargate = [each for each in markets if each.startswith("FARGATE")]
    if not fargate or len(fargate) == len(markets):
        return passed()
    problem = "Batch does not mix Fargate and EC2 in a queue"
    return failed("compute_environment_orders", list(markets), problem, "make a queue for each")
