"""Jobs on Kubernetes, implementing gpufleet.jobs.backend.Backend."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property

from gpufleet.images.pinned_images import PinnedImage, read_pinned_images
from gpufleet.jobs.backend import Note, Submission
from gpufleet.jobs.events import Event
from gpufleet.jobs.kubernetes import jobs
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.follow import KubernetesJobFollower
from gpufleet.jobs.kubernetes.job_kind import kind_of
from gpufleet.jobs.kubernetes.log_reader import read_log
from gpufleet.jobs.kubernetes.ordered_submission import build_ordered_submission
from gpufleet.jobs.kubernetes.secrets import put_secret
from gpufleet.jobs.kubernetes.submit import create_job
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings


class KubernetesBackend:
    """The jobs of one team's namespace. The cluster is not asked before it has to be."""

    waits_for_after = True
    process = "launcher"

    def __init__(self, settings: JobSettings) -> None:
        self._settings = settings
        self.where = f"namespace {settings.namespace}"

    @cached_property
    def _api(self) -> KubernetesApi:
        return KubernetesApi.of(self._settings.kubeconfig, self._settings.environment)

    def build_submission(self, request: JobRequest) -> Submission:
        known: dict[str, PinnedImage] = {}

        def recorded() -> dict[str, str]:
            known.update(read_pinned_images(self._api, self._settings.namespace))
            return {repository: image.pinned for repository, image in known.items()}

        cuda = lambda pinned: _cuda_of(pinned, known.values())  # noqa: E731
        job = build_ordered_submission(self._settings, request, cache(recorded), cuda)
        return Submission(job.manifest["metadata"]["name"], job.manifest, job.advice)

    def submit(self, submission: Submission, note: Note) -> str:
        made = create_job(self._api, submission.document, note)
        return str(made["metadata"].get("uid") or "")

    def list_jobs(self) -> list[dict[str, object]]:
        return jobs.list_jobs(self._api, self._settings.namespace)

    def size(self, job: Mapping[str, object]) -> str:
        return f"{job['workers']} x {job['gpusPerWorker']} GPU"

    def details(self, name: str) -> dict[str, object]:
        return jobs.job_details(self._api, self._settings.namespace, name)

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        return KubernetesJobFollower(self._api, self._settings.namespace, name, resume, logs=logs).events()

    def read_log(self, name: str) -> Iterator[Event]:
        job = jobs.find_job(self._api, self._settings.namespace, name)
        return read_log(self._api, self._settings.namespace, name, kind_of(job))

    def cancel(self, name: str) -> str:
        jobs.cancel_job(self._api, self._settings.namespace, name)
        return f"{name}: cancelled; its pods and their logs are deleted, files on the shared volume stay"

    def put_secret(self, name: str, value: str) -> str:
        return put_secret(self._api, self._settings.namespace, self._settings.environment, name, value)


def _cuda_of(pinned: str, known: Iterable[PinnedImage]) -> str | None:
    """The CUDA version that is recorded of an image."""
    return next((image.cuda for image in known if image.pinned == pinned), None)
