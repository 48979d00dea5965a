"""Jobs of an environment in its Batch account, by the names that people give them: Batch's own ids."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.settings import TASK_ID, AzureBatchSettings
from gpufleet.jobs.azure_batch.status import AzureBatchJob

_LISTED = timedelta(days=30)
"""How far back a listing reaches. Batch keeps jobs until somebody deletes them."""
_AT_ONCE = 8
"""Tasks that a listing asks for at the same time: what became of a job, only its task says."""


@dataclass(frozen=True)
class AzureBatchJobs:
    """Those of one environment, and what else is asked of Azure about them."""

    azure: AzureBatchClient
    settings: AzureBatchSettings
    environment: str

    def find(self, name: str) -> AzureBatchJob:
        """The job of this name. Errors: UserError; AzureBusy, AzureBatchError."""
        job = self.find_or_none(name)
        if job is None:
            raise UserError(f"{name}: job not found in {self.where}; see `gpufleet jobs list {self.environment}`")
        return job

    def find_or_none(self, name: str) -> AzureBatchJob | None:
        """The same; None for a name that is free. Errors: AzureBusy, AzureBatchError."""
        job = self.azure.find("get_job", name)
        return None if job is None else AzureBatchJob(job, self.azure.find("get_task", name, TASK_ID))

    def list_jobs(self) -> list[AzureBatchJob]:
        """The environment's jobs, newest first. Errors: AzureBusy, AzureBatchError."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            jobs = list(self._own())
            tasks = pool.map(lambda job: self.azure.find("get_task", str(job["id"]), TASK_ID), jobs)
            found = [AzureBatchJob(job, task) for job, task in zip(jobs, tasks, strict=True)]
        return sorted(found, key=lambda each: each.created, reverse=True)

    def _own(self) -> Iterator[dict[str, Any]]:
        since = (datetime.now(UTC) - _LISTED).strftime("%Y-%m-%dT%H:%M:%SZ")
        for job in self.azure.list_all("list_jobs", filter=f"creationTime gt DateTime'{since}'"):
            if {"name": "environment", "value": self.environment} in (job.get("metadata") or []):
                yield job

    @property
    def where(self) -> str:
        region = f" of {self.settings.region}" if self.settings.region else ""
        return f"Batch account {self.settings.account}{region}"
