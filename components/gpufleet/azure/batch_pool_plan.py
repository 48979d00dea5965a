"""Plan of a pool of Azure Batch: everything that its arguments determine, as plain values. Creates no resource."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from gpufleet.azure.autoscale_formula import autoscale_formula
from gpufleet.catalog.batch_images import DEFAULT_IMAGE, batch_images
from gpufleet.rules import coerce
from gpufleet.rules.azure.batch_scaling import DEFAULT_IDLE

EVALUATION = "PT5M"
"""How often the formula is evaluated: as often as Batch does it; its default is 15 minutes."""
RESIZE_TIMEOUT = "PT15M"
"""How long Batch looks for the nodes of a fixed pool: its default."""
DISK_GIB = 128


@dataclass(frozen=True, kw_only=True)
class BatchPoolPlan:
    """Everything of a pool that its arguments alone determine."""

    vm_size: str
    image_id: str | None
    """Id of an image in a compute gallery; None with one of the marketplace."""
    publisher: str | None
    offer: str | None
    sku: str | None
    version: str | None
    node_agent: str
    docker: bool
    """Whether tasks can be containers. An image that is not in the catalog is taken to have what was asked for."""
    disk_gib: int
    talks: bool
    """Whether nodes may talk to each other."""
    formula: str | None
    """None for a fixed number of nodes."""
    dedicated: int
    """Nodes of a fixed pool that are not Spot."""
    spot: int
    """Nodes of a fixed pool that are Spot."""
    start_line: str | None
    """Command line of the start task: Batch starts it without a shell."""


def plan_batch_pool(args: Mapping[str, object]) -> BatchPoolPlan:
    """Plan the pool of ``args``, which have passed :func:`validate_azure_batch_pool`."""
    image = coerce.text(args, "image", DEFAULT_IMAGE)
    publisher, offer, sku, version = _parts(image)
    record = batch_images().get(f"{publisher}:{offer}:{sku}")
    wanted = bool(args.get("container_images") or args.get("registry_servers"))
    least, spot = coerce.whole(args, "min", 0), coerce.text(args, "capacity", "on-demand") == "spot"
    fixed = coerce.text(args, "scaling", "auto") == "fixed"
    nodes = coerce.whole(args, "desired", least) if fixed else 0
    task_nodes = coerce.whole(args, "task_nodes", 1)
    command = coerce.text(args, "start_command")
    return BatchPoolPlan(
        vm_size=coerce.texts(args, "types")[0],
        image_id=image if publisher is None else None,
        publisher=publisher,
        offer=offer,
        sku=sku,
        version=version,
        node_agent=coerce.text(args, "node_agent") or (record.node_agent if record else ""),
        docker=record.docker if record else wanted,
        disk_gib=coerce.whole(args, "disk_gib", DISK_GIB),
        talks=task_nodes > 1,
        formula=None
        if fixed
        else autoscale_formula(
            min=least,
            max=coerce.whole(args, "max", 1),
            spot=spot,
            idle_minutes=coerce.whole(args, "idle_minutes", DEFAULT_IDLE),
            task_nodes=task_nodes,
        ),
        dedicated=0 if spot else nodes,
        spot=nodes if spot else 0,
        start_line=f"/bin/bash -c {shlex.quote(f'set -e; {command}')}" if command else None,
    )


def _parts(image: str) -> tuple[str | None, str | None, str | None, str | None]:
    """Publisher, offer, SKU and version of a marketplace image; all None for the id of another."""
    if image.startswith("/"):
        return None, None, None, None
    publisher, offer, sku, *version = image.split(":")
    return publisher, offer, sku, version[0] if version else "latest"
