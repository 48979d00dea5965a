"""Check that a cluster has the MPI operator."""

from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi


def operator_error(api: KubernetesApi) -> str | None:
    """Why a cluster cannot run MPI jobs; None if it can. Errors: UserError."""
    if api.find(api_paths.OPERATOR) is not None:
        return None
    if api.find("/api/v1") is None:
        return (
            f"{api.where}: {api.server} is not a Kubernetes API server: /api/v1 not found; "
            "take the kubeconfig again from the stack's outputs"
        )
    return (
        f"{api.where} has no MPI operator (kubeflow.org/v2beta1 MPIJob is not installed there); "
        "install it with `pulumi up`, or the component gpufleet.kubernetes.MpiOperator"
    )
