"""Jobs of an environment on Slurm, by the names that people give them: those of their folders."""

from collections.abc import Iterable
from dataclasses import dataclass

from gpufleet.jobs.slurm.client import SlurmClient
from gpufleet.jobs.slurm.status import SlurmJob
from gpufleet.jobs.ssh.job_folders import JobFolders
from gpufleet.jobs.ssh.job_record import JobRecord


@dataclass(frozen=True)
class SlurmJobs:
    """Errors of all methods: SshUnreachable, SshError."""

    slurm: SlurmClient
    folders: JobFolders

    def find(self, name: str) -> SlurmJob:
        """The job of this name. Errors: UserError where there is none."""
        return self._with_rows([self.folders.find(name)])[0]

    def list_jobs(self) -> list[SlurmJob]:
        """The environment's jobs, newest first."""
        return self._with_rows(self.folders.list_records())

    def _with_rows(self, records: Iterable[JobRecord]) -> list[SlurmJob]:
        records = list(records)
        rows = self.slurm.queue_rows([each.name for each in records if each.id])
        gone = [each.id for each in records if each.id and each.id not in rows]
        rows = {**(self.slurm.accounting_rows(gone) if gone else {}), **rows}
        if any(each not in rows for each in gone):
            # What has ended between the two looks has its exit code by now.
            records = [
                self._again(each) if each.id not in rows and each.exit_code is None else each for each in records
            ]
        return [SlurmJob(each, rows.get(each.id)) for each in records]

    def _again(self, record: JobRecord) -> JobRecord:
        return self.folders.find_or_none(record.name) or record
