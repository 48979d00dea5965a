"""Cases of gpufleet.rules.aws.batch."""

from gpufleet.rules.aws.batch import (
    gpu_types,
    image_fits,
    instance_role,
    max_vcpus_hold_one,
    name_replaceable,
    queue_kind,
    queue_size,
    service_role,
    service_role_ready,
    vcpus_left,
)

CASES = {
    gpu_types: [
        ("gpus", {"with_gpus": ("g5.xlarge", "p5.48xlarge"), "without": ()}, "pass", ""),
        ("none", {"with_gpus": (), "without": ("m7i.large",)}, "pass", ""),
        (
            "mixed",
            {"with_gpus": ("g5.xlarge",), "without": ("m7i.large",)},
            "fail",
            (
                "trainers: instance_types=[m7i.large]: have no GPUs beside g5.xlarge, so GPU jobs get stuck in"
                " RUNNABLE; make a compute environment for each [aws-batch-gpu-types]"
            ),
        ),
    ],
    max_vcpus_hold_one: [
        ("exact", {"max_vcpus": 96, "smallest": "p4d.24xlarge", "vcpus": 96}, "pass", ""),
        (
            "below",
            {"max_vcpus": 95, "smallest": "p4d.24xlarge", "vcpus": 96},
            "fail",
            (
                "trainers: max_vcpus=95: is below the 96 vCPUs of p4d.24xlarge, so that no job ever starts; use "
                "a multiple of 96 [aws-batch-max-vcpus]"
            ),
        ),
    ],
    vcpus_left: [
        ("multiple", {"max_vcpus": 192, "type_name": "p4d.24xlarge", "vcpus": 96}, "pass", ""),
        (
            "left",
            {"max_vcpus": 200, "type_name": "p4d.24xlarge", "vcpus": 96},
            "fail",
            (
                "trainers: max_vcpus=200: is 2 x p4d.24xlarge and 8 vCPUs left over; use 192 or 288 "
                "[aws-batch-vcpus-left]"
            ),
        ),
        (
            "one-more",
            {"max_vcpus": 193, "type_name": "p4d.24xlarge", "vcpus": 96},
            "fail",
            (
                "trainers: max_vcpus=193: is 2 x p4d.24xlarge and 1 vCPUs left over; use 192 or 288 "
                "[aws-batch-vcpus-left]"
            ),
        ),
        ("below-one", {"max_vcpus": 95, "type_name": "p4d.24xlarge", "vcpus": 96}, "pass", ""),
    ],
    instance_role: [
        ("profile", {"role": "arn:aws:iam::123456789012:instance-profile/nodes"}, "pass", ""),
        ("name", {"role": "nodes"}, "pass", ""),
        (
            "role",
            {"role": "arn:aws:iam::123456789012:role/nodes"},
            "fail",
            (
                "trainers: instance_role=arn:aws:iam::123456789012:role/nodes: is the ARN of a role, and "
                "instances take an instance profile; give the ARN of an instance profile (iam.InstanceProfile), "
                "not of its role [aws-batch-instance-role]"
            ),
        ),
        (
            "none",
            {"role": None},
            "fail",
            (
                "trainers: instance_role=null: Batch rejects an environment of instances without it; give the "
                "ARN of an instance profile (iam.InstanceProfile), not of its role [aws-batch-instance-role]"
            ),
        ),
    ],
    image_fits: [
        ("gpus", {"image_type": "ECS_AL2023_NVIDIA", "gpus": True}, "pass", ""),
        ("no-gpus", {"image_type": "ECS_AL2023", "gpus": False}, "pass", ""),
        (
            "al2",
            {"image_type": "ECS_AL2_NVIDIA", "gpus": True},
            "fail",
            (
                "trainers: image_type=ECS_AL2_NVIDIA: is rejected for new compute environments since 2026-06-30; "
                "use ECS_AL2023_NVIDIA [aws-batch-image]"
            ),
        ),
        (
            "al2-plain",
            {"image_type": "ECS_AL2", "gpus": False},
            "fail",
            (
                "trainers: image_type=ECS_AL2: is rejected for new compute environments since 2026-06-30; use "
                "ECS_AL2023 [aws-batch-image]"
            ),
        ),
        (
            "no-driver",
            {"image_type": "ECS_AL2023", "gpus": True},
            "fail",
            (
                "trainers: image_type=ECS_AL2023: has no driver for GPUs, so that their jobs stay RUNNABLE; use "
                "ECS_AL2023_NVIDIA [aws-batch-image]"
            ),
        ),
    ],
    name_replaceable: [
        ("none", {"name": "", "logical": "jobs"}, "pass", ""),
        ("made-by-pulumi", {"name": "jobs-0a1b2c3", "logical": "jobs"}, "pass", ""),
        (
            "fixed",
            {"name": "jobs", "logical": "jobs"},
            "fail",
            ("trainers: name=jobs: prevents its own replacement; leave it out, or give name_prefix [aws-batch-name]"),
        ),
        (
            "almost",
            {"name": "jobs-0a1b2c", "logical": "jobs"},
            "fail",
            (
                "trainers: name=jobs-0a1b2c: prevents its own replacement; leave it out, or give "
                "name_prefix [aws-batch-name]"
            ),
        ),
    ],
    service_role: [
        ("linked", {"given": False}, "pass", ""),
        (
            "own",
            {"given": True},
            "fail",
            (
                "trainers: service_role=given: makes nearly every change of the environment a replacement; leave it "
                "out, so that Batch uses its service-linked role [aws-batch-service-role]"
            ),
        ),
    ],
    service_role_ready: [
        ("waited-for", {"missed": ()}, "pass", ""),
        (
            "may-come-later",
            {"missed": ("batch-may", "ecs-may")},
            "fail",
            (
                "trainers: service_role=given: has no permissions yet when the environment is created, which then "
                "becomes INVALID: "
                "batch-may and ecs-may may come later; make the environment depend on them, or leave service_role "
                "out [aws-batch-service-role-ready]"
            ),
        ),
    ],
    queue_size: [
        ("one", {"environments": 1}, "pass", ""),
        ("three", {"environments": 3}, "pass", ""),
        (
            "four",
            {"environments": 4},
            "fail",
            (
                "trainers: compute_environment_orders=4: Batch allows 1 to 3 compute environments in a queue; "
                "make another queue, or one environment [aws-batch-queue-environments]"
            ),
        ),
        (
            "none",
            {"environments": 0},
            "fail",
            (
                "trainers: compute_environment_orders=0: Batch allows 1 to 3 compute environments in a queue; "
                "make another queue, or one environment [aws-batch-queue-environments]"
            ),
        ),
        (
            "in-our-words",
            {"environments": 4, "argument": "environments"},
            "fail",
            (
                "trainers: environments=4: Batch allows 1 to 3 compute environments in a queue; make another "
                "queue, or one environment [aws-batch-queue-environments]"
            ),
        ),
    ],
    queue_kind: [
        ("ec2", {"markets": ("EC2", "SPOT")}, "pass", ""),
        ("fargate", {"markets": ("FARGATE", "FARGATE_SPOT")}, "pass", ""),
        (
            "mixed",
            {"markets": ("EC2", "FARGATE")},
            "fail",
            (
                "trainers: compute_environment_orders=[EC2, FARGATE]: Batch does not mix Fargate and EC2 in "
                "a queue; make a queue for each [aws-batch-queue-kind]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
