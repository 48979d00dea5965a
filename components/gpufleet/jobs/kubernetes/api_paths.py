"""Where a job's objects are in the API. Labels are the MPI operator's (v2beta1, pkg/apis/kubeflow/v2beta1)."""

OPERATOR = "/apis/kubeflow.org/v2beta1"
JOB_NAME = "training.kubeflow.org/job-name"
JOB_ROLE = "training.kubeflow.org/job-role"


def core(namespace: str, kind: str, name: str = "") -> str:
    """A namespaced kind of the core API in the plural, for instance pods; one object with a name."""
    return f"/api/v1/namespaces/{namespace}/{kind}" + (f"/{name}" if name else "")
