"""Check that a cluster has what runs a kind of job: the MPI operator, or JobSet."""

from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.job_kind import MPI_JOB, JobKind


def operator_error(api: KubernetesApi, kind: JobKind = MPI_JOB) -> str | None:
    """Why a cluster cannot run jobs of this kind; None if it can. Errors: UserError."""
    if api.find(kind.api) is not None:
        return None
    if api.find("/api/v1") is None:
        return (
            f"{api.where}: {api.server} is not a Kubernetes API server: /api/v1 not found; "
            "take the kubeconfig again from the stack's outputs"
        )
    return f"{api.where} {kind.missing}"
