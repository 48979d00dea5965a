"""GPUs that jobs hold and held, whatever runs them but Kubernetes."""

from datetime import datetime

from gpufleet.errors import UserError
from gpufleet.jobs.settings import JobSettings
from gpufleet.usage.allocation import GpuAllocation


def allocated_by_backend(settings: JobSettings, since: datetime, now: datetime) -> list[GpuAllocation]:
    """What jobs of AWS Batch, Azure Batch or Slurm held from a time on, as far as it still knows. Errors: UserError."""
    if settings.on == "batch":
        from gpufleet.usage.aws_batch import allocated_on_aws_batch

        return allocated_on_aws_batch(settings, now)
    if settings.on == "azure-batch":
        from gpufleet.usage.azure_batch import allocated_on_azure_batch

        return allocated_on_azure_batch(settings, now)
    if settings.on == "slurm":
        from gpufleet.usage.slurm import allocated_on_slurm

        return allocated_on_slurm(settings, since, now)
    raise UserError(
        f"{settings.environment}: plain hosts keep no record of who held their GPUs; let Slurm run their jobs"
    )
