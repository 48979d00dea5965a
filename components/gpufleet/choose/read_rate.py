"""What a training reads in a second, and the smallest file systems of Lustre that give it: pure arithmetic."""

from dataclasses import dataclass

from gpufleet.rules.aws.lustre import LEAST_GIB, STEP_GIB, THROUGHPUTS
from gpufleet.rules.azure.lustre import SKU_STEPS


@dataclass(frozen=True, slots=True)
class Reading:
    """What all GPUs read: samples_per_second of one GPU, sample_kb as stored, in 1,000 bytes."""

    gpus: int
    samples_per_second: float
    sample_kb: float

    @property
    def mb_per_second(self) -> float:
        """Every sample is read once in each epoch, and nothing of it is kept on the nodes."""
        return self.gpus * self.samples_per_second * self.sample_kb / 1000


@dataclass(frozen=True, slots=True)
class LustreSize:
    """A file system that gives as much. tier: MB/s for each TiB, or the SKU. size: in GiB on AWS, in TiB on Azure."""

    cloud: str
    tier: str
    size: int
    mb_per_second: float


def least_lustre(cloud: str, mb_per_second: float) -> list[LustreSize]:
    """The smallest size of each tier of a cloud that gives at least so much; none for on-prem servers.

    AWS counts 1200 GiB as 1.2 TiB, so that 2400 GiB at 125 MB/s for each TiB give 300 MB/s. Source: the example at
    PerUnitStorageThroughput of docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    """
    if cloud == "aws":
        return [_of_aws(throughput, mb_per_second) for throughput in THROUGHPUTS]
    if cloud == "azure":
        return [_of_azure(sku, step, mb_per_second) for sku, step in SKU_STEPS.items()]
    return []


def _of_aws(throughput: int, mb_per_second: float) -> LustreSize:
    gib = LEAST_GIB
    if gib / 1000 * throughput < mb_per_second:
        gib = STEP_GIB * _steps(mb_per_second, STEP_GIB / 1000 * throughput)
    return LustreSize("aws", f"{throughput} MB/s for each TiB", gib, gib / 1000 * throughput)


def _of_azure(sku: str, step: int, mb_per_second: float) -> LustreSize:
    each = step * float(sku.rpartition("-")[2])
    steps = _steps(mb_per_second, each)
    return LustreSize("azure", sku, step * steps, steps * each)


def _steps(wanted: float, each: float) -> int:
    return max(1, int(-(-wanted // each)))
