"""The pods of an MPI job: a launcher that needs no GPU, and workers on GPU nodes of one zone.

`gpu_pod` is a worker of any job.
"""

from collections.abc import Mapping
from typing import Any

from gpufleet.catalog import azure
from gpufleet.jobs.kubernetes.passwd_file import PodUser, pod_user
from gpufleet.jobs.kubernetes.pod_entrypoints import worker_process
from gpufleet.jobs.kubernetes.secrets import secret_variables
from gpufleet.jobs.mpi_ssh import SSH_PORT, public_key, sshd_command
from gpufleet.pools.node_labels import EFFECTS, GPU_TAINT
from gpufleet.users.user import User

EFA = "vpc.amazonaws.com/efa"
GPU = "nvidia.com/gpu"
PLACE = "gpufleet.dev/place"
HUGEPAGES = "5120Mi"
"""Huge pages of 2 MiB for EFA: what EKS's images reserve on a node with EFA, and its guide asks for in a pod.

Source: docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

_STAY = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}
"""A job ends when one of its pods is moved: autoscalers leave its nodes alone, however little they do.

Sources: github.com/kubernetes/autoscaler cluster-autoscaler/FAQ.md, karpenter.sh/docs/concepts/disruption.
"""

_GPU_TAINT_VALUES = ({"value": GPU_TAINT["value"]}, {"value": "true"}, {"value": ""})
"""Values of the taint nvidia.com/gpu on nodes: ours, that of AKS's and NVIDIA's guides, and none."""
_USER = 1000
_GRACE, _GRACE_AZURE = 100, 25


def job_uid(args: Mapping[str, Any]) -> int:
    """The uid that a job runs as."""
    return int(args.get("uid", _USER))


def job_grace_seconds(args: Mapping[str, Any]) -> int:
    """Seconds from notice to a pod's end. Default: what the Spot notices of AWS (120 s) and Azure (30 s) leave when
    the node's drain has begun; a generous value costs nothing, for a pod ends when its ranks have.

    Sources: docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html,
    learn.microsoft.com/azure/virtual-machines/spot-vms; who drains:
    docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html, learn.microsoft.com/azure/aks/node-auto-drain.
    """
    default = _GRACE_AZURE if args.get("instance_type") in azure().types else _GRACE
    return int(args.get("grace_seconds", default))


def launcher_pod(
    name: str, args: Mapping[str, Any], command: list[str], environment: Mapping[str, str]
) -> dict[str, Any]:
    """The pod that runs mpirun. It keeps off GPU nodes: it tolerates nothing, unless `launcher_on_gpu_nodes` says so,
    and the scheduler prefers others.

    `launcher_domain` leads it to where its workers are, and holds it Pending until the first of them has a node."""
    elsewhere = {"matchExpressions": [{"key": "nvidia.com/gpu.present", "operator": "DoesNotExist"}]}
    container = {
        "name": "launcher",
        "command": command,
        # mpirun hands them to the ranks: no worker's specification or processes but theirs have them.
        "env": secret_variables(args.get("secrets", {})),
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
    }
    affinity: dict[str, Any] = {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": elsewhere}]}
    }
    if domain := args.get("launcher_domain"):
        affinity["podAffinity"] = _beside(_worker_labels(name), domain)
    spec: dict[str, Any] = {"affinity": affinity}
    if args.get("launcher_on_gpu_nodes", False):
        # Value by value: those of a queue's flavors have another value, so that it gives none of them to a launcher.
        values = [{"key": GPU, "operator": "Equal", "effect": "NoSchedule"} | each for each in _GPU_TAINT_VALUES]
        spec["tolerations"] = [*values, *_of_pool(args)]
    return _pod(args, container, spec, environment)


def worker_pod(name: str, args: Mapping[str, Any], efa: int, environment: Mapping[str, str]) -> dict[str, Any]:
    """A pod with GPUs, in which sshd waits for mpirun's ranks. It is ready when sshd listens.

    The kubelet tells its first process that the pod will be taken, which tells the ranks: see worker.sh.
    """
    uid = job_uid(args)
    container = {
        "name": "worker",
        "command": worker_process(public_key(uid), job_grace_seconds(args), sshd_command(uid)),
        "ports": [{"containerPort": SSH_PORT, "name": "ssh"}],
        "readinessProbe": {"tcpSocket": {"port": SSH_PORT}, "periodSeconds": 2},
    }
    return gpu_pod(args, efa, environment, container, _worker_labels(name))


def gpu_pod(
    args: Mapping[str, Any],
    efa: int,
    environment: Mapping[str, str],
    container: Mapping[str, Any],
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """A pod with the GPUs of a worker, on nodes as the job wants them. labels: what all workers of the job have."""
    gpus = int(args["gpus_per_worker"])
    limits = {GPU: str(gpus)} | ({EFA: str(efa), "hugepages-2Mi": HUGEPAGES} if efa else {})
    reserved = {
        "cpu": str(int(args.get("cpus", gpus))),
        "memory": f"{int(args.get('memory_gib', 4 * gpus))}Gi",
    }
    # Of what a kubelet counts itself requests and limits differ; of devices and huge pages they may not.
    resources = {"requests": {**reserved, **limits}, "limits": limits}
    spec: dict[str, Any] = {"nodeSelector": node_labels(args), "tolerations": _tolerations(args)}
    neighbours = args.get("neighbours", "topology.kubernetes.io/zone")
    affinity = {} if "zone" in args else {"podAffinity": _beside(labels, neighbours)}
    if place := args.get("prefer_place"):
        affinity["nodeAffinity"] = _preferred(place)
    if affinity:
        spec["affinity"] = affinity
    pod = _pod(args, {**container, "resources": resources}, spec, environment)
    for argument, word in (("topology", "required"), ("prefer_topology", "preferred")):
        if argument in args:
            pod["metadata"]["annotations"][f"kueue.x-k8s.io/podset-{word}-topology"] = args[argument]
    return pod


def node_labels(args: Mapping[str, Any]) -> dict[str, str]:
    """Labels of the nodes that workers may run on."""
    labels = {"nvidia.com/gpu.present": "true"}
    for argument, label in (
        ("pool", "gpufleet.dev/pool"),
        ("gpu", "gpufleet.dev/gpu"),
        ("place", PLACE),
        ("instance_type", "node.kubernetes.io/instance-type"),
        ("zone", "gpufleet.dev/zone-id"),
    ):
        if argument in args:
            labels[label] = args[argument]
    return labels | ({"gpufleet.dev/network": "efa"} if args.get("network") == "efa" else {})


def _preferred(place: str) -> dict[str, Any]:
    here = {"matchExpressions": [{"key": PLACE, "operator": "In", "values": [place]}]}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": here}]}


def _worker_labels(name: str) -> dict[str, str]:
    return {"training.kubeflow.org/job-name": name, "training.kubeflow.org/job-role": "worker"}


def _beside(labels: Mapping[str, str], domain: str) -> dict[str, Any]:
    """Where the job's workers are: workers follow the first one into its zone, so that the pool that grows for them is
    one too; the launcher follows its workers."""
    term = {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": domain}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _tolerations(args: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}, *_of_pool(args)]


def _of_pool(args: Mapping[str, Any]) -> list[dict[str, str]]:
    """Tolerations of the pool's own taints."""
    taints = []
    for taint in args.get("tolerations", ()):
        match = {"operator": "Equal", "value": taint["value"]} if taint.get("value") else {"operator": "Exists"}
        taints.append({"key": taint["key"], **match, "effect": EFFECTS[taint["effect"]]})
    return taints


def _pod(
    args: Mapping[str, Any], container: dict[str, Any], spec: dict[str, Any], environment: Mapping[str, str]
) -> dict[str, Any]:
    """A pod of the job's image, user and volumes, under Pod Security "restricted" unless the user is root."""
    mounts: list[dict[str, Any]] = [{"name": "shared-memory", "mountPath": "/dev/shm"}]
    size = f"{int(args.get('shared_memory_gib', 8))}Gi"
    volumes: list[dict[str, Any]] = [{"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": size}}]
    if claim := args.get("volume_claim"):
        mounts.append({"name": "shared-files", "mountPath": args.get("mount_path", "/mnt")})
        volumes.append({"name": "shared-files", "persistentVolumeClaim": {"claimName": claim}})
    for number, (path, held) in enumerate(sorted(args.get("read_claims", {}).items())):
        mounts.append({"name": f"read-{number}", "mountPath": path, "readOnly": True})
        volumes.append({"name": f"read-{number}", "persistentVolumeClaim": {"claimName": held, "readOnly": True}})
    uid = job_uid(args)
    user: dict[str, Any] = {"runAsUser": uid, "runAsGroup": int(args.get("gid", _USER)), "runAsNonRoot": uid != 0}
    if groups := args.get("groups"):
        user["supplementalGroups"] = [int(each) for each in groups]
    known = _known(args)
    mounts += known.mounts
    volumes += known.volumes
    container = {
        **container,
        "image": args["image"],
        "env": [
            *({"name": name, "value": value} for name, value in {**known.environment, **environment}.items()),
            *container.get("env", ()),
        ],
        "volumeMounts": mounts,
        # sshd of root locks itself into a directory and changes users: it keeps the runtime's usual capabilities.
        "securityContext": {"allowPrivilegeEscalation": False, **({"capabilities": {"drop": ["ALL"]}} if uid else {})},
    }
    spec = {
        # Training does not talk to the Kubernetes API.
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": job_grace_seconds(args),
        "securityContext": {**user, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": volumes,
        **spec,
    }
    if secret := args.get("image_pull_secret"):
        spec["imagePullSecrets"] = [{"name": secret}]
    if account := args.get("service_account"):
        spec["serviceAccountName"] = account
    # Istio's sidecar, where a mesh injects one, never ends and cuts off ssh: kubeflow.org/docs/components/mpi.
    labels = {"sidecar.istio.io/inject": "false", **args.get("labels", {})}
    return {"metadata": {"labels": labels, "annotations": {**_STAY, **known.annotations}}, "spec": spec}


def _known(args: Mapping[str, Any]) -> PodUser:
    """What makes the job's user known in its pods; nothing for a user of the image."""
    if "user" not in args:
        return PodUser()
    user = User(args["user"], job_uid(args), int(args.get("gid", _USER)))
    return pod_user(user, args.get("mount_path", "/mnt") if args.get("volume_claim") else None)
