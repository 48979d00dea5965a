"""The kinds of objects that jobs are on Kubernetes: MPIJob with mpirun, JobSet with torchrun."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpufleet.jobs.kubernetes import api_paths

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class JobKind:
    """One kind: where its objects are, how its pods are found, and where in its spec things stand.

    process: what a job's log and exit code belong to; process_selector: its pods; process_owner: the end of the name
    of what makes them. missing: the words on a cluster without the kind.
    """

    kind: str
    api: str
    plural: str
    missing: str
    name_label: str
    process: str
    process_selector: str
    process_owner: str
    process_pod: Path
    worker_pod: Path
    workers: Path
    gpus: Path
    suspend: Path

    def jobs(self, namespace: str) -> str:
        return f"{self.api}/namespaces/{namespace}/{self.plural}"

    def job(self, namespace: str, name: str) -> str:
        return f"{self.jobs(namespace)}/{name}"

    def selector(self, name: str, *, process: bool = False) -> str:
        """The label selector of a job's pods, or of those of its process only."""
        return f"{self.name_label}={name}" + (f",{self.process_selector}" if process else "")


MPI_JOB = JobKind(
    kind="MPIJob",
    api=api_paths.OPERATOR,
    plural="mpijobs",
    missing=(
        "has no MPI operator (kubeflow.org/v2beta1 MPIJob is not installed there); "
        "install it with `pulumi up`, or the component gpufleet.kubernetes.MpiOperator"
    ),
    name_label=api_paths.JOB_NAME,
    process="launcher",
    process_selector=f"{api_paths.JOB_ROLE}=launcher",
    process_owner="launcher",
    process_pod=("mpiReplicaSpecs", "Launcher", "template", "spec"),
    worker_pod=("mpiReplicaSpecs", "Worker", "template", "spec"),
    workers=("mpiReplicaSpecs", "Worker", "replicas"),
    gpus=("slotsPerWorker",),
    suspend=("runPolicy", "suspend"),
)
_WORKERS: Path = ("replicatedJobs", 0, "template", "spec")
_POD: Path = (*_WORKERS, "template", "spec")
JOB_SET = JobKind(
    kind="JobSet",
    api="/apis/jobset.x-k8s.io/v1alpha2",
    plural="jobsets",
    missing=(
        "has no JobSet (jobset.x-k8s.io/v1alpha2 is not installed there), which launcher=torchrun needs; "
        "add jobset to gpufleet:software and run `pulumi up`, or use the component gpufleet.kubernetes.JobSetController"
    ),
    name_label="jobset.sigs.k8s.io/jobset-name",
    process="worker 0",
    process_selector="batch.kubernetes.io/job-completion-index=0",
    process_owner="worker-0",
    process_pod=_POD,
    worker_pod=_POD,
    workers=(*_WORKERS, "parallelism"),
    gpus=(*_POD, "containers", 0, "resources", "limits", "nvidia.com/gpu"),
    suspend=("suspend",),
)
"""Source: kubernetes-sigs/jobset v0.12.0, api/jobset/v1alpha2/jobset_types.go; pods have the labels of Indexed Jobs."""

KINDS = (MPI_JOB, JOB_SET)


def kind_of(job: Mapping[str, Any]) -> JobKind:
    return JOB_SET if job.get("kind") == JOB_SET.kind else MPI_JOB


def part_of(job: Mapping[str, Any], path: Path) -> Any:  # noqa: ANN401
    """What stands at a path of a job's spec; None where a part of the path is missing."""
    found: Any = job.get("spec")
    for step in path:
        if isinstance(step, int):
            found = found[step] if isinstance(found, list) and len(found) > step else None
        else:
            found = found.get(step) if isinstance(found, Mapping) else None
    return found
