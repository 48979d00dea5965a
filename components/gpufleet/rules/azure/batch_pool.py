"""Rules on Azure Batch pools, and their validation."""

from collections.abc import Mapping, Sequence
from datetime import date

from gpufleet.catalog import azure
from gpufleet.catalog.batch_images import DEFAULT_IMAGE, batch_images
from gpufleet.pools.azure_batch_pool import AzureBatchPool
from gpufleet.rules import coerce
from gpufleet.rules.arguments import validate_arguments
from gpufleet.rules.azure import batch_image, batch_mpi
from gpufleet.rules.azure.batch_mounts import validate_batch_mounts
from gpufleet.rules.azure.batch_scaling import task_fits, validate_autoscale
from gpufleet.rules.azure.capacity import spot_mpi
from gpufleet.rules.azure.pool_arguments import validate_azure_pool_arguments
from gpufleet.rules.generic import allowed_choice, at_least
from gpufleet.rules.rule import Finding, Outcome, Severity, Status, failed, passed, rule

SCALINGS = ("auto", "fixed")
CAPACITIES = ("on-demand", "spot")
_ONLY = {"desired": "fixed", "idle_minutes": "auto"}
"""Words that mean something with one kind of scaling only."""
_AROUND = ("mounts", "registry_servers", "container_images")
"""Arguments of the component that are checked if they are given: their values come from other parts."""


@rule("azure-batch-one-size", Severity.ERROR)
def one_size(*, types: Sequence[str]) -> Outcome:
    """A Batch pool has one VM size.

    Source: vmSize of Microsoft.Batch/batchAccounts/pools 2024-07-01: all nodes of a pool have the same size.
    """
    if len(types) == 1:
        return passed()
    fix = "keep one, and make a pool for each other" if types else "give one, such as [Standard_NC4as_T4_v3]"
    return failed("types", list(types), "is not exactly one VM size, which a Batch pool has", fix)


@rule("azure-batch-no-reservation", Severity.ERROR)
def no_reservation(*, capacity: str) -> Outcome:
    """A Batch pool does not use a capacity reservation group.

    Source: Microsoft.Batch/batchAccounts/pools 2024-07-01 has no property for one.
    """
    if capacity != "reservation":
        return passed()
    fix = "use on-demand or spot, or a GPU node group of AKS for the reservation"
    return failed("capacity", capacity, "Batch does not support capacity reservations", fix)


@rule("azure-batch-scaling-words", Severity.WARNING)
def scaling_argument(*, argument: str, value: int | None, scaling: str) -> Outcome:
    """A scaling argument is one that the pool's scaling mode uses; None: not given.

    Source: scaleSettings of Microsoft.Batch/batchAccounts/pools 2024-07-01: fixed targets or a formula, and a formula
    says the number of nodes from the first on.
    """
    wanted = _ONLY[argument]
    if value is None or scaling == wanted:
        return passed()
    problem = f"has no effect with scaling={scaling}"
    return failed(argument, value, problem, f"leave it out, or set scaling={wanted}")


@rule("azure-batch-fixed-nodes", Severity.INFO)
def fixed_nodes(*, nodes: int, scaling: str) -> Outcome:
    """A pool without a formula has no nodes by default, so that none comes back unrequested; `nodes`: desired.

    Source: Azure takes a pool's settings as a whole (PUT of Microsoft.Batch/batchAccounts/pools), so that each change
    of the pool sets this number again, whatever a command has made of it.
    """
    if scaling != "fixed" or nodes <= 0:
        return passed()
    problem = "nodes are paid for until somebody resizes the pool, and come back with the next change of the pool"
    return failed("desired", nodes, problem, "set desired=0 and resize the pool for each job, or use scaling=auto")


def validate_azure_batch_pool(args: Mapping[str, object], region: str, today: date | None = None) -> list[Finding]:
    """Every finding on a Batch pool, passes included. Never raises, whatever the values.

    Reads the words of `AzureBatchPool`, and mounts, registry_servers and container_images where they are there.
    region: a location such as eastus, "" where it is not known. today: by default the clock's.
    """
    own = {word: value for word, value in args.items() if word not in _AROUND}
    return [*validate_arguments(own, AzureBatchPool), *validate_batch_pool(args, region, today)]


def validate_batch_pool(args: Mapping[str, object], region: str, today: date | None = None) -> list[Finding]:
    """The same without those on names and kinds of the arguments."""
    types, network = coerce.texts(args, "types"), coerce.text(args, "network", "plain")
    # Zones and other words that a Batch pool has not are rejected by their names alone.
    words = {word: value for word, value in args.items() if word in AzureBatchPool.__annotations__}
    reservation = no_reservation(capacity=coerce.text(args, "capacity", "on-demand"))
    if reservation.rejects:
        del words["capacity"]
    intent = validate_azure_pool_arguments(words, region or None, capacities=CAPACITIES)
    findings = [
        one_size(types=types),
        *intent,
        reservation,
        *_scaling(args, intent),
        *_together(args),
        *_image(args, types, network, today or date.today()),
        *validate_batch_mounts(args, region),
    ]
    if coerce.is_whole(args.get("disk_gib")):
        findings.append(at_least(argument="disk_gib", value=coerce.whole(args, "disk_gib", 1), least=1))
    return findings


def _scaling(args: Mapping[str, object], intent: Sequence[Finding]) -> list[Finding]:
    """The findings on how the pool scales, without what those on its intent say already."""
    scaling = coerce.text(args, "scaling", "auto")
    findings = [allowed_choice(argument="scaling", word=scaling, legal=SCALINGS)]
    if scaling not in SCALINGS:
        return findings
    for word in _ONLY:
        value = coerce.whole(args, word, 0) if coerce.is_whole(args.get(word)) else None
        findings.append(scaling_argument(argument=word, value=value, scaling=scaling))
    desired = coerce.whole(args, "desired", coerce.whole(args, "min", 0))
    findings.append(fixed_nodes(nodes=desired, scaling=scaling))
    if scaling == "fixed":
        most, task_nodes = coerce.whole(args, "max", 1), coerce.whole(args, "task_nodes", 1)
        return [
            *findings,
            at_least(argument="task_nodes", value=task_nodes, least=1),
            at_least(argument="max", value=most, least=1),
            task_fits(task_nodes=task_nodes, most=most),
        ]
    words = {word: args[word] for word in ("min", "max", "idle_minutes", "task_nodes") if word in args}
    said = {(each.rule, each.argument) for each in intent if each.status is not Status.PASS}
    spot = coerce.text(args, "capacity", "on-demand") == "spot"
    formula = validate_autoscale({**words, "spot": spot})
    return [*findings, *(each for each in formula if (each.rule, each.argument) not in said)]


def _together(args: Mapping[str, object]) -> list[Finding]:
    """The findings on nodes that talk to each other. The mode of the account is not known here."""
    talks = coerce.whole(args, "task_nodes", 1) > 1
    most = coerce.whole(args, "max", 1)
    records = [azure().types[name] for name in coerce.texts(args, "types") if name in azure().types]
    return [
        batch_mpi.inter_node_size(most=most, inter_node=talks, allocation=None),
        spot_mpi(capacity=coerce.text(args, "capacity", "on-demand"), together=talks),
        *(
            batch_mpi.inter_node_ethernet(
                type_name=record.type, inter_node=talks, infiniband=record.infiniband, most=most
            )
            for record in records
        ),
    ]


def _image(args: Mapping[str, object], types: Sequence[str], network: str, today: date) -> list[Finding]:
    image = coerce.text(args, "image", DEFAULT_IMAGE)
    known = batch_images()
    # An image of the catalog at a version of its own is still that image.
    record = known.get(":".join(image.split(":")[:3]))
    agent = coerce.text(args, "node_agent") or (record.node_agent if record else "")
    name = record.image if record else image
    legal = batch_image.image_agent(image=name, node_agent=agent, known=tuple(known))
    if legal.rejects:
        return [legal]
    findings = [
        legal,
        batch_image.image_ended(node_agent=agent, today=today),
        batch_image.image_ends(node_agent=agent, today=today),
        batch_image.image_infiniband(image=image, infiniband=record.infiniband if record else None, network=network),
    ]
    for argument in ("container_images", "registry_servers"):
        if args.get(argument):
            docker = record.docker if record else None
            findings.append(batch_image.image_docker(image=image, docker=docker, argument=argument))
    for size in (azure().types[each] for each in types if each in azure().types):
        runs = record.architecture if record else None
        findings.append(
            batch_image.image_architecture(image=image, runs=runs, type_name=size.type, architecture=size.architecture)
        )
        if record:
            findings.append(batch_image.image_driver(image=image, driver=record.driver, type_name=size.type))
    return findings
