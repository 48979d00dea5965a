"""Rules on Batch environments, and their validation."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.catalog import aws
from gpufleet.rules import coerce
from gpufleet.rules.aws.batch_strategy import image_drives, image_name, strategy_legal, updates_in_place
from gpufleet.rules.aws.pool_arguments import validate_pool_arguments
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

MOST_GROUPS = 5
_ARM = re.compile(r"(a1|[a-z]+\d+g[a-z]*|p6e-gb\d+)(\.|$)|default_arm64$")
"""Types and families with Graviton or Grace processors: a g after the generation, and the first one."""


@rule("aws-batch-same-vcpus", Severity.WARNING)
def same_vcpus(*, types: Sequence[str], vcpus: Sequence[int], most: int) -> Outcome:
    """All types of an environment have the same number of vCPUs, so that its limit is a number of nodes.

    vcpus: of each type. most: nodes that may run. The limit is nodes times the vCPUs of the smallest type, so that
    there are never more nodes than asked for, and fewer where Batch takes larger ones.

    Source: maxvCpus of botocore's model of batch: Batch limits vCPUs, and goes beyond by one instance at most.
    """
    sizes = sorted(set(vcpus))
    if len(sizes) < 2:
        return passed()
    limit = most * sizes[0]
    # Batch begins an instance while the limit is not reached.
    fewest = -(-limit // sizes[-1])
    problem = (
        f"have {join_words(map(str, sizes), 'and')} vCPUs, and Batch limits vCPUs: max={most} becomes {limit} vCPUs, "
        f"which is {fewest} of the largest"
    )
    return failed("types", list(types), problem, "give types with the same vCPUs, or make an environment for each")


@rule("aws-batch-architecture", Severity.ERROR)
def one_architecture(*, types: Sequence[str]) -> Outcome:
    """All types of an environment have processors of one architecture; `optimal` and families count as types.

    Source: aws/aws-cdk#31148 (Error executing request, Exception : arm-based instance type cannot be used with other
    instance types).
    """
    arm = [name for name in types if _ARM.match(name)]
    others = [name for name in types if name not in arm]
    if not arm or not others:
        return passed()
    problem = f"{join_words(arm, 'and')} {'has' if len(arm) == 1 else 'have'} ARM processors, unlike the others"
    return failed("types", list(types), problem, "make an environment for each architecture")


@rule("aws-batch-no-block", Severity.ERROR)
def no_block(*, capacity: str) -> Outcome:
    """A Batch environment does not use a capacity block.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html: Batch ignores the market options
    of a template, in which EC2 wants a capacity block named.
    """
    if capacity != "capacity-block":
        return passed()
    fix = "use on-demand, spot or reservation, or a GPU node group of EKS for the block"
    return failed("capacity", capacity, "Batch ignores the template's market type and starts other nodes", fix)


@rule("aws-batch-spot-near", Severity.WARNING)
def spot_near(*, capacity: str, argument: str, word: str) -> Outcome:
    """Spot nodes are not placed close together; `argument` is placement or network, `word` its value.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html: multi-node jobs do not run on Spot, so that
    a placement group or EFA only makes capacity harder to get.
    """
    if capacity != "spot" or word in ("none", "plain"):
        return passed()
    problem = "makes Spot capacity rarer, and multi-node jobs, which need it, never run on Spot"
    plain = "none" if argument == "placement" else "plain"
    return failed(argument, word, problem, f"set {argument}={plain}, or capacity=on-demand")


@rule("aws-batch-efa-placed", Severity.WARNING)
def efa_placed(*, network: str, placement: str, capacity: str) -> Outcome:
    """Nodes with EFA are in one cluster placement group; a reservation brings the group that it was made in.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/efa.html: all instances that use an EFA must be in the
    same cluster placement group; https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html,
    aws/aws-parallelcluster#7252: where none is named, the reservation's own counts.
    """
    if network != "efa" or placement != "none" or capacity != "on-demand":
        return passed()
    problem = "Batch supports EFA in one cluster placement group only"
    return failed("placement", placement, problem, "set placement=create")


@rule("aws-batch-security-groups", Severity.ERROR)
def few_groups(*, groups: int) -> Outcome:
    """Nodes have at most five security groups, their own among them; `groups` are those given.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html: a multi-node job's interfaces take at most
    five; so does any interface, unless the account's quota was raised.
    """
    if groups < MOST_GROUPS:
        return passed()
    problem = f"makes {groups + 1} security groups with the environment's own, and an interface allows {MOST_GROUPS}"
    return failed("security_group_ids", groups, problem, f"give at most {MOST_GROUPS - 1}")


def validate_batch_environment(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a Batch environment, passes included. Never raises, whatever the values.

    Reads the words of a GPU pool (types, min, max, zones, placement ...), region, strategy, security_group_ids, tags.
    """
    capacity = coerce.text(args, "capacity", "on-demand")
    spot = capacity == "spot"
    image = coerce.text(args, "image", "al2023")
    strategy = coerce.text(args, "strategy")
    placement, network = coerce.text(args, "placement", "none"), coerce.text(args, "network", "plain")
    records = [aws().types[name] for name in coerce.texts(args, "types") if name in aws().types]
    groups = args.get("security_group_ids")
    # One node before several is advice for jobs that span nodes.
    alone = placement == "none" and network == "plain"
    return [
        *(
            each
            for each in validate_pool_arguments(args, coerce.text(args, "region"))
            # Of placement Batch asks more than EC2.
            if not (alone and each.rule == "any-pool-fewer-nodes") and each.rule != "aws-efa-near"
        ),
        no_block(capacity=capacity),
        spot_near(capacity=capacity, argument="placement", word=placement),
        spot_near(capacity=capacity, argument="network", word=network),
        efa_placed(network=network, placement=placement, capacity=capacity),
        same_vcpus(
            types=[each.type for each in records],
            vcpus=[each.vcpus for each in records],
            most=coerce.whole(args, "max", 1),
        ),
        one_architecture(types=coerce.texts(args, "types")),
        few_groups(groups=len(groups) if isinstance(groups, Sequence) and not isinstance(groups, str) else 0),
        image_name(image=image),
        *(
            image_drives(
                type_name=each.type,
                architecture=each.architecture,
                image_type="" if image.startswith("ami-") else "ECS_AL2023_NVIDIA",
            )
            for each in records
        ),
        *_strategy(strategy, spot),
    ]


def _strategy(strategy: str, spot: bool) -> list[Finding]:
    """The findings on a strategy that was given; the default is legal."""
    if not strategy:
        return []
    return [strategy_legal(strategy=strategy, spot=spot, fleet_role=False), updates_in_place(strategy=strategy)]
