"""A torchrun job as a manifest of jobset.x-k8s.io/v1alpha2: workers alike, on each of which torchrun starts ranks."""

from typing import Any, cast

from gpufleet.jobs.kubernetes.job_kind import JOB_SET
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, efa_interfaces, job_environment
from gpufleet.jobs.kubernetes.mpi_pods import gpu_pod, job_grace_seconds
from gpufleet.jobs.kubernetes.pod_entrypoints import torchrun_process
from gpufleet.jobs.kubernetes.secrets import secret_variables
from gpufleet.jobs.mpi_run import MASTER_PORT
from gpufleet.jobs.torchrun import torchrun_command

_LONGEST = 63
_RANDOM = "-xxxxx"
"""What the Job controller puts behind the name of an indexed pod."""


def jobset_job(name: str, args: MpiJobArgs) -> dict[str, Any]:
    """The JobSet ``name``. ``args`` has passed `gpufleet.rules.kubernetes.mpi_job.validate_mpi_job`.

    One Job has all workers, so that JobSet makes all of them again when one fails, after the old ones have gone, for
    these may hold the GPUs. A job that exceeds its time limit is not tried again. Kueue starts it as it does an MPIJob.
    Sources: kubernetes-sigs/jobset v0.12.0, api/jobset/v1alpha2/jobset_types.go (names of hosts, BlockingRecreate,
    rules of failures); kueue.sigs.k8s.io/docs/tasks/run/jobsets.
    """
    args = cast(MpiJobArgs, {argument: value for argument, value in args.items() if value is not None})
    queue, workers = args.get("queue"), int(args["workers"])
    labels = dict(args.get("labels", {})) | ({"kueue.x-k8s.io/queue-name": queue} if queue else {})
    job: dict[str, Any] = {
        "parallelism": workers,
        "completions": workers,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "template": _worker(name, args),
    }
    failure: dict[str, Any] = {"maxRestarts": int(args.get("retries", 0)), "restartStrategy": "BlockingRecreate"}
    if "time_limit_seconds" in args:
        job["activeDeadlineSeconds"] = int(args["time_limit_seconds"])
        over = {"name": "timeLimit", "action": "FailJobSet", "onJobFailureReasons": ["DeadlineExceeded"]}
        failure["rules"] = [over]
    return {
        "apiVersion": JOB_SET.api.removeprefix("/apis/"),
        "kind": JOB_SET.kind,
        "metadata": {"name": name, "namespace": args["namespace"], **({"labels": labels} if labels else {})},
        "spec": {
            **({"suspend": True} if queue else {}),
            "network": {"enableDNSHostnames": True},
            "failurePolicy": failure,
            "ttlSecondsAfterFinished": int(args.get("ttl_seconds", 86400)),
            "replicatedJobs": [{"name": "worker", "replicas": 1, "template": {"spec": job}}],
        },
    }


def name_errors(name: str, workers: int) -> list[str]:
    """Why the name is too long for the names of the pods, which JobSet refuses."""
    longest = _LONGEST - len(f"-worker-0-{workers - 1}{_RANDOM}")
    if len(name) <= longest:
        return []
    problem = f"is {len(name)} characters long, too long for the pods of {workers} workers"
    return [f"{name}: name: {problem}; use {longest} or fewer"]


def _worker(name: str, args: MpiJobArgs) -> dict[str, Any]:
    """A pod whose first process runs torchrun: see torchrun_worker.sh. The kubelet fills in the worker's number."""
    command = torchrun_command(
        list(args["command"]),
        nodes=int(args["workers"]),
        ranks=int(args["gpus_per_worker"]),
        node_rank="$(JOB_COMPLETION_INDEX)",
        address=f"{name}-worker-0-0.{name}",
        port=str(MASTER_PORT),
    )
    container = {
        "name": "worker",
        "command": torchrun_process(job_grace_seconds(args), command),
        "env": secret_variables(args.get("secrets", {})),
        "ports": [{"containerPort": MASTER_PORT, "name": "rendezvous"}],
    }
    pod = gpu_pod(args, efa_interfaces(args), job_environment(args), container, {JOB_SET.name_label: name})
    # A pod for each try: torchrun and its container restart nothing.
    pod["spec"]["restartPolicy"] = "Never"
    return pod
