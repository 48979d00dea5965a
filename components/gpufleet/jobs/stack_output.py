"""The shape of the stack's output `jobs`: what an environment exports for job submission."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from gpufleet.documents.json import check_shape
from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.settings import AwsBatchOutput
from gpufleet.jobs.azure_batch.settings import AzureBatchOutput, AzureBatchPoolOutput
from gpufleet.jobs.budgets import JobBudgetsConfig
from gpufleet.jobs.hosts.settings import HostsOutput
from gpufleet.jobs.slurm.settings import SlurmOutput
from gpufleet.pools.eks_pool import Taint


class PoolOutput(TypedDict, total=False):
    """One GPU pool in the stack's output `jobs`."""

    types: Sequence[str]
    """Instance types or VM sizes."""
    zones: Sequence[str]
    """Zone ids."""
    network: str
    """plain, efa or infiniband."""
    capacity: str
    """How its nodes are bought: on-demand, spot and others. Default: on-demand."""
    max: int
    """Most nodes."""
    label: str
    """Value of gpufleet.dev/pool on its nodes. Default: the pool's name."""
    taints: Sequence[Taint]
    """Its own taints, besides the one of all GPU nodes."""
    gpu: str
    """GPU model, as the nodes' label gpufleet.dev/gpu has it. Default: that of its types in the catalog."""
    gpus: int
    """GPUs of each node. Default: as the catalog says of its types."""
    place: str
    """Value of gpufleet.dev/place on its nodes. Default: cloud."""
    image: str
    """Image of its nodes: al2023, bottlerocket or one's own on EKS. Default: the service's."""
    pod_network: str
    """Network of the pods on its nodes, vpc-cni or cilium, in a cluster with both: no network policy holds across them,
    so all pods of a job are in one place. Default: the cluster has one."""
    reaches_files: bool
    """Whether its nodes reach the shared volume's files. Default true."""


class OverflowOutput(TypedDict, total=False):
    """How jobs move from pool to pool when capacity does not come."""

    capacity_timeout_minutes: float
    """Minutes after which a job gives a pool up."""
    pools: Sequence[str]
    """The order of jobs that name no pool. Default: none; such jobs have one pool."""


class UserOutput(TypedDict):
    """A user of the team."""

    uid: int
    gid: int


class JobsOutput(TypedDict, total=False):
    """The stack's output `jobs`; if `on` is batch, with the keys of
    `gpufleet.jobs.aws_batch.settings.AwsBatchOutput`."""

    on: str
    """What runs the jobs: one of BACK_ENDS of `gpufleet.jobs.settings`. Default: kubernetes."""
    namespace: str
    """The team's namespace. Default: default."""
    pools: Mapping[str, PoolOutput]
    volume_claim: str
    """The claim of the shared volume, mounted at /mnt."""
    read_claims: Mapping[str, str]
    """Claims that jobs mount to read only, by path, such as those of buckets. Default: none."""
    service_account: str
    image_pull_secret: str
    queue: str
    """The team's LocalQueue, where Kueue is installed."""
    topology: str
    """Node label of the network's level in which a job's workers are to lie, if they fit. Default: the queue has no
    topology."""
    quota: Mapping[str, int]
    """GPUs of each pool that the team's jobs may hold at a time, with a queue that overflows. Default: not known."""
    overflow: OverflowOutput
    """Where the queue overflows from pool to pool."""
    users: Mapping[str, UserOutput]
    """The team's users by name. Default: jobs run as uid 1000 of their image."""
    gid: int
    """Group of the team's own files, which every job of its users has. Default: none."""
    project: str
    """What the environment is for: a label of its jobs."""
    teams: Mapping[str, "JobsOutput"]
    """Where several teams share the cluster: what each has instead, by its namespace."""
    usd_per_gpu_hour: Mapping[str, float]
    """What an hour of one GPU costs in pools, by name, where no price list says it."""
    budgets: JobBudgetsConfig
    """Budgets of users and projects."""
    azure_batch: AzureBatchOutput
    """Azure Batch, where the stack has an account; it may run jobs beside a cluster, with its own pools."""
    slurm: SlurmOutput
    """A Slurm cluster that is there already."""
    hosts: HostsOutput
    """On-prem servers without a scheduler."""


def parse_jobs_output(value: object, environment: str) -> Mapping[str, Any]:
    """The output `jobs` of a stack or of a file by hand, without keys that hold nothing, its values as declared above.

    `jobs.slurm` and `jobs.hosts` are checked by their own readers. Errors: UserError.
    """
    where = f"{environment}: the stack's output jobs"
    if not isinstance(value or {}, Mapping):
        raise UserError(f"{where} must be a mapping; this is not a gpufleet stack")
    found = _plain(value or {})
    assert isinstance(found, dict)
    _check(found, f"{where}")
    return found


_FIX = "run `pulumi up`, or correct the file of --outputs"


def _check(jobs: dict[str, Any], where: str) -> None:
    rest = {key: each for key, each in jobs.items() if key not in ("slurm", "hosts")}
    # One by one, so that an error has the name.
    check_entries(rest.pop("pools", {}), PoolOutput, f"{where}.pools")
    check_entries(rest.pop("users", {}), UserOutput, f"{where}.users")
    azure = rest.get("azure_batch")
    if isinstance(azure, dict):
        for shape in (AzureBatchPoolOutput, PoolOutput):
            check_entries(azure.get("pools", {}), shape, f"{where}.azure_batch.pools")
    teams = check_shape(rest.pop("teams", {}), dict[str, dict[str, Any]], f"{where}.teams", _FIX)
    for name, team in teams.items():
        _check(team, f"{where}.teams.{name}")
    check_shape(rest, JobsOutput, where, _FIX)
    if rest.get("on") == "batch":
        check_shape(rest, AwsBatchOutput, where, _FIX)


def check_entries(entries: object, shape: type, where: str) -> None:
    """Entries by name, each of a shape. Errors: DocumentError."""
    for name, each in check_shape(entries, dict[str, Any], where, _FIX).items():
        check_shape(each, shape, f"{where}.{name}", _FIX)


def _plain(value: object) -> object:
    """Without keys that hold nothing; Pulumi's outputs have no whole numbers: 2 may come back as 2.0."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
