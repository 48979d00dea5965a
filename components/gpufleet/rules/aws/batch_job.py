"""Rules on job definitions of AWS Batch."""

import re
from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

_WHOLE = re.compile(r"[1-9]\d*")


@rule("aws-batch-multinode-on-demand", Severity.ERROR)
def multinode_place(*, unsuitable: Sequence[str], fitting: bool | None) -> Outcome:
    """A multi-node job has a queue of managed EC2 environments to run on; `unsuitable`: the others, with their type.

    `fitting`: whether there is such a queue, None where the program does not tell.
    Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html: not on Spot, nor UNMANAGED; the job stays
    RUNNABLE forever (aws/aws-parallelcluster#2098).
    """
    if fitting:
        return passed()
    fix = "add a queue with managed environments of type EC2 only"
    if fitting is None:
        problem = "the program does not show on which compute environments the job runs"
        return unverified("node_properties", None, problem, fix)
    problem = f"a multi-node job stays RUNNABLE forever on {join_words(unsuitable, 'and')}"
    return failed("node_properties", list(unsuitable), problem, fix)


@rule("aws-batch-multinode-one-zone", Severity.WARNING)
def multinode_zone(*, environment: str, zones: Sequence[str]) -> Outcome:
    """Nodes of a multi-node job are in one zone.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html: a cluster placement group in a single
    Availability Zone; traffic between zones is slower and costs money.
    """
    if len(zones) < 2:
        return passed()
    problem = f"{environment} has several zones, and nodes of one job may land in any"
    return failed("zones", list(zones), problem, "give the environment subnets of one zone")


@rule("aws-batch-multinode-private", Severity.ERROR)
def multinode_private(*, environment: str, public: Sequence[str]) -> Outcome:
    """Nodes of a multi-node job lie in private subnets; `public` are those whose way out is an internet gateway.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html: the interfaces that its containers get have
    no public address, so that they reach nothing by an internet gateway, whatever the node's own address.
    """
    if not public:
        return passed()
    problem = f"{environment} has its way out by an internet gateway, which containers of a multi-node job cannot use"
    return failed("subnets", list(public), problem, "use subnets whose default route is a NAT gateway")


@rule("aws-batch-node-types", Severity.ERROR)
def same_node_type(*, types: Sequence[str]) -> Outcome:
    """All nodes of a multi-node job are of one instance type; `types` are those of its node ranges.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: all node groups must use
    the same instance type.
    """
    if len(set(types)) < 2:
        return passed()
    return failed("node_properties", sorted(set(types)), "Batch requires one instance type", "use one for all nodes")


@rule("aws-batch-requirement", Severity.ERROR)
def requirement_whole(*, kind: str, value: str, fargate: bool) -> Outcome:
    """GPUs, vCPUs and MiB that a job asks for are whole numbers, as texts; Fargate takes parts of a vCPU.

    Source: kestra-io/plugin-aws#504 (Value 1.0 for type VCPU in resourceRequirement is not valid. Please provide a
    numeric value); ResourceRequirement of botocore's model of batch.
    """
    if _WHOLE.fullmatch(value) or (fargate and kind == "VCPU" and re.fullmatch(r"0\.(25|5)", value)):
        return passed()
    fix = 'write it as a string, such as "8"'
    return failed(f"resource_requirements.{kind}", value, "must be a whole number above 0", fix)


@rule("aws-batch-network-of-fargate", Severity.ERROR)
def network_of_fargate(*, given: bool, fargate: bool) -> Outcome:
    """Only a job on Fargate has a network configuration; elsewhere the environment's instances have the network.

    Source: https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html (networkConfiguration:
    jobs on EC2 resources must not specify it); RegisterJobDefinition then says: networkConfiguration not applicable for
    EC2.
    """
    if not given or fargate:
        return passed()
    fix = "leave it out, or set platform_capabilities=[FARGATE]"
    return failed("network_configuration", "given", "Batch rejects it for jobs on EC2 instances", fix)
