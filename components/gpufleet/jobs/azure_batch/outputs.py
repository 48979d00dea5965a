"""What a job on Azure Batch has left in the container of results: its log, and what it wrote to $GPUFLEET_OUTPUTS."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_batch.settings import AzureBatchSettings
from gpufleet.jobs.azure_storage.blob_files import BlobFiles
from gpufleet.jobs.azure_storage.paths import StoragePath
from gpufleet.jobs.file_transfer import ListedFile, TransferredFile


@dataclass(frozen=True)
class AzureBatchOutputs:
    """The outputs of one environment's jobs."""

    files: BlobFiles
    settings: AzureBatchSettings
    environment: str

    def list_files(self, job: str) -> list[ListedFile]:
        """A job's files, by their paths below its folder. Errors: UserError, also where there are none."""
        place = self._place(job)
        try:
            return [replace(each, path=_below(each.path, place)) for each in self.files.list_files(place)]
        except AzureBatchError:
            raise
        except UserError as error:
            raise UserError(
                f"{job}: there is nothing at {self.settings.outputs(job)}; a job writes its outputs to "
                f"$GPUFLEET_OUTPUTS, and `gpufleet jobs list {self.environment}` knows the jobs of the last days"
            ) from error

    def get(self, job: str, to: Path) -> Iterator[TransferredFile]:
        """Copy all of a job's files to a directory; what is there already is not fetched again. Errors: UserError."""
        self.list_files(job)
        place = self._place(job)
        for each in self.files.get(place, to):
            yield replace(each, path=_below(each.path, place))

    def tables(self, job: str, directory: Path) -> Iterator[str]:
        """None: Azure Batch has no sweeps."""
        return iter(())

    def _place(self, job: str) -> StoragePath:
        return StoragePath("blob", self.settings.result, self.settings.folder(job))


def _below(path: str, place: StoragePath) -> str:
    return path.removeprefix(f"{place.full}/")
