"""Whether a cluster knows MPI jobs, and whether it is one."""

from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi


def no_operator(api: KubernetesApi) -> str | None:
    """Why a cluster takes no MPI jobs; None where it does. Errors: UserError."""
    if api.find(api_paths.OPERATOR) is not None:
        return None
    if api.find("/api/v1") is None:
        return (
            f"{api.where}: {api.server} is no API server of Kubernetes: it does not know /api/v1; "
            "take the kubeconfig anew from the stack's outputs"
        )
    return (
        f"{api.where} has no MPI operator (kubeflow.org/v2beta1 MPIJob is not known there); "
        "install it with `pulumi up`, or the component gpufleet.kubernetes.MpiOperator"
    )
