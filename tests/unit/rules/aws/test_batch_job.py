"""Cases of gpufleet.rules.aws.batch_job."""

from gpufleet.rules.aws.batch_job import (
    multinode_place,
    multinode_private,
    multinode_zone,
    network_of_fargate,
    requirement_whole,
    same_node_type,
)

CASES = {
    multinode_place: [
        ("fits", {"unsuitable": (), "fitting": True}, "pass", ""),
        (
            "spot",
            {"unsuitable": ("jobs (SPOT)",), "fitting": False},
            "fail",
            (
                "trainers: node_properties=[jobs (SPOT)]: a multi-node job stays RUNNABLE forever on jobs "
                "(SPOT); add a queue with managed environments of type EC2 only [aws-batch-multinode-on-demand]"
            ),
        ),
        (
            "unclear",
            {"unsuitable": (), "fitting": None},
            "unverified",
            (
                "trainers: node_properties=null: not verified: the program does not show on which compute environments"
                " the job runs; add a queue with managed environments of type EC2 only "
                "[aws-batch-multinode-on-demand]"
            ),
        ),
    ],
    multinode_zone: [
        ("one", {"environment": "jobs", "zones": ("use1-az1",)}, "pass", ""),
        (
            "two",
            {"environment": "jobs", "zones": ("use1-az1", "use1-az2")},
            "fail",
            (
                "trainers: zones=[use1-az1, use1-az2]: jobs has several zones, and nodes of one job may land in "
                "any; give the environment subnets of one zone [aws-batch-multinode-one-zone]"
            ),
        ),
    ],
    multinode_private: [
        ("private", {"environment": "jobs", "public": ()}, "pass", ""),
        (
            "public",
            {"environment": "jobs", "public": ("outside",)},
            "fail",
            (
                "trainers: subnets=[outside]: jobs has its way out by an internet gateway, which containers of a "
                "multi-node job cannot use; use subnets whose default route is a NAT gateway "
                "[aws-batch-multinode-private]"
            ),
        ),
    ],
    same_node_type: [
        ("one", {"types": ("p5.48xlarge", "p5.48xlarge")}, "pass", ""),
        ("none", {"types": ()}, "pass", ""),
        (
            "two",
            {"types": ("p5.48xlarge", "p4d.24xlarge")},
            "fail",
            (
                "trainers: node_properties=[p4d.24xlarge, p5.48xlarge]: Batch requires one instance type; use one "
                "for all nodes [aws-batch-node-types]"
            ),
        ),
    ],
    network_of_fargate: [
        ("fargate", {"given": True, "fargate": True}, "pass", ""),
        ("none", {"given": False, "fargate": False}, "pass", ""),
        (
            "instances",
            {"given": True, "fargate": False},
            "fail",
            (
                "trainers: network_configuration=given: Batch rejects it for jobs on EC2 instances; leave it out, or "
                "set platform_capabilities=[FARGATE] [aws-batch-network-of-fargate]"
            ),
        ),
    ],
    requirement_whole: [
        ("gpus", {"kind": "GPU", "value": "8", "fargate": False}, "pass", ""),
        (
            "float",
            {"kind": "VCPU", "value": "1.0", "fargate": False},
            "fail",
            (
                "trainers: resource_requirements.VCPU=1.0: must be a whole number above 0; write it as a string, such"
                ' as "8" [aws-batch-requirement]'
            ),
        ),
        (
            "none",
            {"kind": "GPU", "value": "0", "fargate": False},
            "fail",
            (
                "trainers: resource_requirements.GPU=0: must be a whole number above 0; write it as a string, such "
                'as "8" [aws-batch-requirement]'
            ),
        ),
        ("quarter", {"kind": "VCPU", "value": "0.25", "fargate": True}, "pass", ""),
        (
            "quarter-of-ec2",
            {"kind": "VCPU", "value": "0.25", "fargate": False},
            "fail",
            (
                "trainers: resource_requirements.VCPU=0.25: must be a whole number above 0; write it as a string, "
                'such as "8" [aws-batch-requirement]'
            ),
        ),
        (
            "gib",
            {"kind": "MEMORY", "value": "8GiB", "fargate": True},
            "fail",
            (
                "trainers: resource_requirements.MEMORY=8GiB: must be a whole number above 0; write it as a string, "
                'such as "8" [aws-batch-requirement]'
            ),
        ),
    ],
}


def test_case(case):
    case.check()
