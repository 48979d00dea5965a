"""Rules on the images of Azure Batch pools: what Batch stops to support, and what GPU jobs need in one."""

from collections.abc import Sequence
from datetime import date, timedelta

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

ENDS = {
    "batch.node.ubuntu 14.04": date(2019, 8, 1),  # Azure/Batch#61
    "batch.node.ubuntu 16.04": date(2021, 5, 21),  # Azure/Batch#106
    "batch.node.ubuntu 18.04": date(2023, 5, 30),  # Azure/Batch#152
    "batch.node.ubuntu 20.04": date(2025, 4, 23),  # Azure/Batch#174
    "batch.node.ubuntu 22.04": date(2027, 6, 30),  # Azure/Batch#200
}
_NOTICE = timedelta(days=365)
_FIX = "use microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04"


@rule("azure-batch-image-ended", Severity.ERROR)
def image_ended(*, node_agent: str, today: date) -> Outcome:
    """The operating system of a Batch pool is one that Batch supports on the day of deployment.

    Source: Azure/Batch#61, #106, #152, #174, #200: after the day pools of that node agent cannot be made or grow.
    """
    end = ENDS.get(node_agent.lower().strip())
    if end is None or today <= end:
        return passed()
    return failed("node_agent_sku_id", node_agent, f"Batch has not supported it since {end.isoformat()}", _FIX)


@rule("azure-batch-image-ends", Severity.WARNING)
def image_ends(*, node_agent: str, today: date) -> Outcome:
    """The operating system of a Batch pool is supported for a year to come.

    Source: Azure/Batch#200: Ubuntu 22.04 ends on 30 June 2027; pools may then be scaled to zero by force.
    """
    end = ENDS.get(node_agent.lower().strip())
    if end is None or today > end or end - today > _NOTICE:
        return passed()
    return failed("node_agent_sku_id", node_agent, f"Batch supports it until {end.isoformat()} only", _FIX)


@rule("azure-batch-image-agent", Severity.ERROR)
def image_agent(*, image: str, node_agent: str, known: Sequence[str]) -> Outcome:
    """An image of a Batch pool is one whose node agent is known, or comes with the id of its node agent.

    `known` are the images of the catalog; another one is publisher:offer:sku, with or without a version, or the id of
    an image in a compute gallery.

    Source: nodeAgentSkuId of Microsoft.Batch/batchAccounts/pools 2024-07-01 is required and must match the image.
    """
    if image in known:
        return passed()
    parts = image.split(":")
    if not image.startswith("/subscriptions/") and not (len(parts) in (3, 4) and all(parts)):
        fix = f"use {join_words(known)}, another publisher:offer:sku, or the id of an image in a compute gallery"
        return failed("image", image, "is neither a marketplace image nor an image id", fix)
    if node_agent:
        return passed()
    problem = "needs a node agent, and which one is not known"
    return failed(
        "image", image, problem, f"give node_agent, such as batch.node.ubuntu 24.04, or use {join_words(known)}"
    )


@rule("azure-batch-image-docker", Severity.ERROR)
def image_docker(*, image: str, docker: bool | None, argument: str) -> Outcome:
    """A Batch pool that gets ready for containers has an image in which they run; None: not known.

    `argument` is what asks for containers: container_images or registry_servers.

    Source: https://learn.microsoft.com/azure/batch/batch-docker-container-workloads: images with the capability
    DockerCompatible.
    """
    if docker:
        return passed()
    fix = "use microsoft-dsvm:ubuntu-hpc:2404"
    if docker is None:
        problem = f"whether containers run in it is not known, and {argument} is given"
        return unverified("image", image, problem, f"make sure that it has a container runtime, or {fix}")
    return failed("image", image, f"has no container runtime, and {argument} is given", f"{fix}, or leave that out")


@rule("azure-batch-image-infiniband", Severity.ERROR)
def image_infiniband(*, image: str, infiniband: bool | None, network: str) -> Outcome:
    """A Batch pool that asks for InfiniBand has an image with its drivers; None: not known.

    Source: https://learn.microsoft.com/azure/batch/batch-pool-compute-intensive-sizes: an RDMA size needs an image with
    the drivers, such as those of Ubuntu-HPC.
    """
    if network != "infiniband" or infiniband:
        return passed()
    fix = "use microsoft-dsvm:ubuntu-hpc:2404"
    if infiniband is None:
        problem = "whether the drivers of InfiniBand are in it is not known"
        return unverified("image", image, problem, f"make sure that they are, or {fix}")
    return failed("image", image, "has no drivers of InfiniBand", f"{fix}, or set network=plain")


@rule("azure-batch-image-architecture", Severity.ERROR)
def image_architecture(*, image: str, runs: str | None, type_name: str, architecture: str) -> Outcome:
    """A Batch pool's image is for the processors of its VM size; `runs`: those of the image, None where not known.

    Source: https://learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated/nd-family: GB200 and GB300 sizes
    have Arm processors.
    """
    if runs == architecture:
        return passed()
    if runs is None:
        problem = f"whether it is for {architecture}, as {type_name} needs, is not known"
        return unverified("image", image, problem, "make sure that it is")
    problem = f"is for {runs}, and {type_name} has processors of {architecture}"
    return failed("image", image, problem, f"use an image for {architecture}, or another size")


@rule("azure-batch-image-driver", Severity.WARNING)
def image_driver(*, image: str, driver: str | None, type_name: str) -> Outcome:
    """A GPU pool's image has the driver that its VM size works with; `driver` is cuda, None for none.

    Sizes of the NV families have virtual GPUs, which NVIDIA's CUDA driver does not drive. A warning, since a start
    command may install what lacks. Images that are not known are not checked.

    Source: https://learn.microsoft.com/azure/virtual-machines/linux/n-series-driver-setup (CUDA driver for NC and ND,
    GRID driver for NV sizes).
    """
    virtual = type_name.startswith("Standard_NV")
    if driver == "cuda" and not virtual:
        return passed()
    wanted = "GRID" if virtual else "CUDA"
    has = "NVIDIA's CUDA driver" if driver else "no NVIDIA driver"
    problem = f"has {has}, and {type_name} works with the {wanted} driver only"
    fix = "use a size of the NC or ND families" if virtual else "use microsoft-dsvm:ubuntu-hpc:2404"
    return failed("image", image, problem, f"{fix}, your own image, or install it with start_command")
