"""An MPI job as a manifest of kubeflow.org/v2beta1: plain data, so that a job needs no `pulumi up`."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast

from gpufleet.catalog import aws, gpu_types
from gpufleet.catalog.interconnect import line_rate
from gpufleet.jobs.kubernetes.mpi_pods import job_grace_seconds, job_uid, launcher_pod, worker_pod
from gpufleet.jobs.kubernetes.pod_entrypoints import launcher_process
from gpufleet.jobs.mpi_network import network_environment
from gpufleet.jobs.mpi_run import MASTER_PORT, is_mpirun, mpirun_options
from gpufleet.jobs.mpi_ssh import public_key, ssh_arguments, ssh_path
from gpufleet.pools.eks_pool import Taint


class MpiJobArgs(TypedDict):
    """One training job: how many workers, of which kind, and what they run. Plain values."""

    namespace: str
    """Namespace of the team."""
    workers: int
    """Worker pods, at least 1."""
    gpus_per_worker: int
    """GPUs of each worker, at least 1; as many ranks run on it."""
    image: str
    """Image with a tag or a digest. It holds OpenMPI, sshd, ssh and, where no user is given, one with the job's
    uid."""
    command: Sequence[str]
    """What each rank runs, for instance [python3, train.py]; mpirun is put in front. A command that begins with
    mpirun or mpiexec is taken as it is."""
    pool: NotRequired[str]
    """Pool whose nodes the workers run on. Default: any with GPUs."""
    gpu: NotRequired[str]
    """GPU model of the nodes, as their label gpufleet.dev/gpu says it, for instance V100. Default: any."""
    place: NotRequired[str]
    """Place of the nodes, as their label gpufleet.dev/place says it: cloud, or that of on-prem servers, for instance
    onprem. Default: any."""
    prefer_place: NotRequired[str]
    """Place that is taken first, where there is room, by a job that may run in any. With a queue its flavors' order
    decides. Default: none."""
    neighbours: NotRequired[str]
    """Node label whose value all workers share where no zone is given. Default topology.kubernetes.io/zone."""
    instance_type: NotRequired[str]
    """Instance type of these nodes, for instance p5.48xlarge. Default: any."""
    zone: NotRequired[str]
    """Zone id of all workers, for instance use1-az1. Default: any, but one zone for all of them."""
    network: NotRequired[str]
    """plain, or efa for nodes with EFA. Default plain."""
    network_interface: NotRequired[str]
    """Network interface of the pods. Default eth0."""
    efa_per_worker: NotRequired[int]
    """EFA interfaces of each worker, with network=efa. Default: the worker's share of the instance type's, else 1."""
    volume_claim: NotRequired[str]
    """PersistentVolumeClaim (ReadWriteMany) that every pod mounts. Default: none."""
    volume_zone: NotRequired[str]
    """Zone id of a volume that can be mounted in one zone only. Default: it can be in all."""
    unreached_places: NotRequired[Sequence[str]]
    """Places that the job may run at and from which the volume's files are not reached. Default: none."""
    files_place: NotRequired[str]
    """Place of the volume's files, for messages."""
    mount_path: NotRequired[str]
    """Where the volume is mounted. Default /mnt."""
    read_claims: NotRequired[Mapping[str, str]]
    """Claims that every pod mounts to read only, by absolute path, for instance {/images: images}. Default: none."""
    shared_memory_gib: NotRequired[int]
    """Size limit of /dev/shm of each worker in GiB; what is in it counts as the worker's memory. Default 8."""
    cpus: NotRequired[int]
    """vCPUs that each worker reserves. Default: 1 for each GPU."""
    memory_gib: NotRequired[int]
    """Memory that each worker reserves in GiB. Default: 4 for each GPU."""
    queue: NotRequired[str]
    """LocalQueue of Kueue: the job waits, suspended, until all of its workers fit. Default: none."""
    topology: NotRequired[str]
    """Node label whose value all workers share, where the queue knows the topology, for instance
    gpufleet.dev/zone-id. Default: none."""
    prefer_topology: NotRequired[str]
    """The same, where all workers fit: otherwise they share a broader level of the topology. Default: none."""
    retries: NotRequired[int]
    """How often the launcher is started again after it failed: 10 s later, then 20, 40, up to 6 minutes. A Spot
    reclaim is such a failure (exit code 143): the operator makes a new worker, and the launcher waits up to half an
    hour for its node. Default 0."""
    grace_seconds: NotRequired[int]
    """Seconds that ranks have to save after notice that their node will be taken, or that the job is cancelled:
    SIGUSR1 to each that catches it, else SIGTERM. Default 100, what is left of AWS's Spot notice; 25 on Azure's."""
    time_limit_seconds: NotRequired[int]
    """Seconds after its launcher's start after which the job is ended. Default: none."""
    ttl_seconds: NotRequired[int]
    """Seconds after its end after which the job and its logs are deleted. Default 86400, a day."""
    uid: NotRequired[int]
    """User of all processes, whose files the volume then holds. Default 1000."""
    gid: NotRequired[int]
    """Group of all processes. Default 1000."""
    user: NotRequired[str]
    """Login name of that user, of whom the image need not know: an /etc/passwd with it is mounted over the image's,
    and its home is home/NAME on the volume. Default: the image's user of that name."""
    groups: NotRequired[Sequence[int]]
    """Further gids of all processes, such as that of the team's own directory. Default: none."""
    image_pull_secret: NotRequired[str]
    """Secret with the registry's login. Default: the service account's."""
    service_account: NotRequired[str]
    """Service account of the pods, which gets no token. Default: the namespace's default."""
    env: NotRequired[Mapping[str, str]]
    """Environment variables of every rank; they win over those that this job sets."""
    secrets: NotRequired[Mapping[str, str]]
    """Environment variables of every rank that come from Secrets of the namespace: SECRET/KEY, or SECRET for its key
    `value`. The launcher gets them, and hands them to the ranks."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the job and its pods, for instance owner and project."""
    tolerations: NotRequired[Sequence[Taint]]
    """Taints of the pool besides the one that keeps pods without GPUs away."""
    launcher_on_gpu_nodes: NotRequired[bool]
    """Whether the launcher may run on nodes with GPUs, where it finds no others: it then tolerates their taints. For
    on-prem servers, among which there may be no other node. Default false."""
    launcher_domain: NotRequired[str]
    """Node label whose value the launcher shares with its workers, for instance gpufleet.dev/place where nodes of
    several places have different pod networks. Default: none."""


def mpi_job(name: str, args: MpiJobArgs) -> dict[str, Any]:
    """The MPIJob ``name``. ``args`` has passed `gpufleet.rules.kubernetes.mpi_job.validate_mpi_job`.

    Without a queue the operator makes the launcher's Job when all workers are ready. With one the job is made
    suspended, and Kueue starts it when all of it fits: no half of a job holds GPUs. While it is suspended it has no
    workers, so that all of them count as ready: the operator makes the launcher's Job at once, suspended too, and
    resumes it with the job. Its pod then starts beside the workers, and waits for them itself (launcher.sh), so that it
    burns no retries on images that are still being pulled. Sources: kubeflow/mpi-operator v0.7.0,
    pkg/controller/mpi_job_controller.go (syncHandler, newLauncherJob);
    kueue.sigs.k8s.io/docs/tasks/run/kubeflow/mpijobs.
    """
    # As for the rules, null is an argument that is not given.
    args = cast(MpiJobArgs, {argument: value for argument, value in args.items() if value is not None})
    environment = rank_environment(name, args)
    queue = args.get("queue")
    labels = dict(args.get("labels", {})) | ({"kueue.x-k8s.io/queue-name": queue} if queue else {})
    policy: dict[str, Any] = {
        # The launcher stays, with its log, until the job is deleted; idle workers do not keep their GPUs.
        "cleanPodPolicy": "Running",
        "ttlSecondsAfterFinished": int(args.get("ttl_seconds", 86400)),
        "backoffLimit": int(args.get("retries", 0)),
    }
    if "time_limit_seconds" in args:
        policy["activeDeadlineSeconds"] = int(args["time_limit_seconds"])
    if queue:
        policy["suspend"] = True
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name, "namespace": args["namespace"], **({"labels": labels} if labels else {})},
        "spec": {
            "slotsPerWorker": int(args["gpus_per_worker"]),
            "runPolicy": policy,
            "sshAuthMountPath": ssh_path(job_uid(args)),
            "launcherCreationPolicy": "WaitForWorkersReady",
            "mpiImplementation": "OpenMPI",
            "mpiReplicaSpecs": {
                "Launcher": {
                    "replicas": 1,
                    # A pod for each try: its log and its exit code stay.
                    "restartPolicy": "Never",
                    "template": launcher_pod(name, args, launcher_command(args, environment), environment),
                },
                "Worker": {
                    "replicas": int(args["workers"]),
                    "restartPolicy": "OnFailure",
                    "template": worker_pod(name, args, efa_interfaces(args), environment),
                },
            },
        },
    }


def rank_environment(name: str, args: MpiJobArgs) -> dict[str, str]:
    """The environment variables of every rank, sorted by name.

    MASTER_ADDR is the first worker, on which rank 0 runs: OpenMPI fills the hosts in the hostfile's order.
    """
    master = {
        "MASTER_ADDR": f"{name}-worker-0.{name}.{args['namespace']}.svc",
        "MASTER_PORT": str(MASTER_PORT),
    }
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if job_uid(args) == 0 else {}
    return dict(sorted({**master, **root, **job_environment(args)}.items()))


def job_environment(args: MpiJobArgs) -> dict[str, str]:
    """Those variables that do not depend on what starts the ranks.

    GPUFLEET_NETWORK_GBPS is the line rate of a node on the job's network, where the instance type is given and known.
    """
    name_of_network = args.get("network", "plain")
    network = network_environment(name_of_network, *_given(args, "network_interface"))
    record = gpu_types().get(args.get("instance_type", ""))
    speed = line_rate(record, name_of_network) if record else None
    # What a program compares the bandwidth with that it measures: examples/train/network.py.
    rate = {"GPUFLEET_NETWORK_GBPS": f"{speed:g}"} if speed else {}
    return dict(sorted({**network, **rate, **args.get("env", {})}.items()))


def launcher_command(args: MpiJobArgs, environment: Mapping[str, str]) -> list[str]:
    """The launcher's command: see `launcher_process`; it runs `mpirun_command`, or the user's own mpirun."""
    command = list(args["command"])
    if not is_mpirun(command):
        command = mpirun_command(args, environment)
    uid = job_uid(args)
    return launcher_process(public_key(uid), job_grace_seconds(args), ssh_arguments(uid), command)


def mpirun_command(args: MpiJobArgs, environment: Mapping[str, str]) -> list[str]:
    """mpirun with one rank for each GPU, and the environment for all of them."""
    ranks = int(args["workers"]) * int(args["gpus_per_worker"])
    options = mpirun_options(ssh_arguments(job_uid(args)), [*environment, *sorted(args.get("secrets", {}))])
    return ["mpirun", "-np", str(ranks), *options, *args["command"]]


def efa_interfaces(args: MpiJobArgs) -> int:
    """EFA interfaces of each worker, 0 with a plain network."""
    if args.get("network", "plain") != "efa":
        return 0
    if "efa_per_worker" in args:
        return int(args["efa_per_worker"])
    record = aws().types.get(args.get("instance_type", ""))
    return max(1, record.efa_interfaces * int(args["gpus_per_worker"]) // record.gpus) if record else 1


def _given(args: Mapping[str, Any], name: str) -> list[str]:
    return [args[name]] if name in args else []
