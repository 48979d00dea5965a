"""What an environment's jobs need to know, from the outputs of its stack: nobody types it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from gpufleet.catalog import GpuType, aws, azure
from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.settings import AzureBatchOutput, AzureBatchSettings, azure_batch_settings
from gpufleet.jobs.azure_storage.places import AzureStorage, azure_storage
from gpufleet.jobs.batch.settings import BatchSettings, batch_settings
from gpufleet.pool import Taint
from gpufleet.rules.wording import listed, use_one_of

BACK_ENDS = ("kubernetes", "batch", "azure-batch")
"""What runs jobs, by the words of `--on`: Kubernetes, AWS Batch, Azure Batch."""

Recorded = Callable[[], Mapping[str, str]]
"""Asks for the image that each repository's jobs run, by the repository's name: what `gpufleet images build` wrote."""


class PoolOutput(TypedDict, total=False):
    """One GPU pool, as the stack's output `jobs` tells it."""

    types: Sequence[str]
    """Instance types or VM sizes."""
    zones: Sequence[str]
    """Zone ids."""
    network: str
    """plain, efa or infiniband."""
    max: int
    """Most nodes."""
    label: str
    """Value of gpufleet.dev/pool on its nodes. Default: the pool's name."""
    taints: Sequence[Taint]
    """Its own taints, besides the one of all GPU nodes."""


class JobsOutput(TypedDict, total=False):
    """The stack's output `jobs`; where `on` is batch, with the keys of `gpufleet.jobs.batch.settings.BatchOutput`."""

    on: str
    """What runs the jobs: one of BACK_ENDS. Default: kubernetes."""
    namespace: str
    """The team's namespace. Default: default."""
    pools: Mapping[str, PoolOutput]
    volume_claim: str
    """The claim of the shared volume, mounted at /mnt."""
    service_account: str
    image_pull_secret: str
    queue: str
    """The team's LocalQueue, where Kueue is installed."""
    azure_batch: AzureBatchOutput
    """Azure Batch, where the stack has an account; it may run jobs beside a cluster, with pools of its own."""


@dataclass(frozen=True)
class Pool:
    """A pool that jobs run on. records: of its types in the catalog; types that it does not know are left out.

    label: of its nodes, gpufleet.dev/pool. taints: its own.
    """

    name: str
    types: Sequence[str]
    zones: Sequence[str]
    network: str
    max: int | None
    records: Sequence[GpuType]
    label: str
    taints: Sequence[Taint] = ()

    @property
    def gpus(self) -> int | None:
        """GPUs that every node of the pool has; None where the catalog does not know all types."""
        whole = self.records and len(self.records) == len(self.types)
        return min(record.gpus for record in self.records) if whole else None

    @property
    def network_gbps(self) -> float | None:
        """The network bandwidth that every node reaches; None where it is not known."""
        speeds = [record.network_gbps for record in self.records]
        known = [speed for speed in speeds if speed is not None]
        return min(known) if known and len(known) == len(self.types) else None

    @property
    def efa(self) -> int:
        """EFA interfaces of every node; 0 where the pool does not use them."""
        if self.network != "efa" or not self.records:
            return 0
        return min(int(getattr(record, "efa_interfaces", 0)) for record in self.records)


@dataclass(frozen=True)
class Settings:
    """An environment, as its jobs see it. repositories: URL by name.

    batch: AWS Batch, where that runs its jobs; there is no kubeconfig then. azure_batch: the same for Azure Batch; the
    kubeconfig is that of the cluster beside it, if there is one.
    """

    environment: str
    kubeconfig: object
    namespace: str
    pools: Mapping[str, Pool]
    repositories: Mapping[str, str]
    volume_claim: str | None
    service_account: str | None
    image_pull_secret: str | None
    queue: str | None
    batch: BatchSettings | None = None
    azure_batch: AzureBatchSettings | None = None
    storage: AzureStorage | None = None
    """The storage account beside Azure Batch, whatever runs the jobs."""

    @property
    def on(self) -> str:
        """What runs the jobs: one of BACK_ENDS."""
        if self.azure_batch:
            return "azure-batch"
        return "batch" if self.batch else "kubernetes"

    def pool(self, name: str | None) -> Pool:
        """The pool of this name, or the only one. Errors: UserError for an unknown one, or none given among several."""
        if not self.pools:
            raise UserError(
                f"{self.environment}: the stack's outputs tell of no GPU pool ({self._pools_are_at}); "
                "add one to gpufleet:pools and run `pulumi up`"
            )
        if name is None:
            if len(self.pools) > 1:
                raise UserError(f"{self.environment}: which pool? use --pool {listed(self.pools)}")
            return next(iter(self.pools.values()))
        if name not in self.pools:
            raise UserError(f"{self.environment}: pool={name}: no such pool; {use_one_of(name, list(self.pools))}")
        return self.pools[name]

    @property
    def _pools_are_at(self) -> str:
        return "jobs.azure_batch.pools" if self.azure_batch else "jobs.pools"

    def image(self, wanted: str | None, recorded: Recorded) -> str:
        """The image's full name: of the environment's own registry where no registry is named.

        wanted: a repository's name, alone or with :TAG or @DIGEST, or an image's full name; None: the only repository.
        recorded: asked only for a repository without tag or digest. Errors: UserError when it is not clear which.
        """
        if wanted is None:
            if len(self.repositories) != 1:
                names = listed(self.repositories, "and")
                has = f"the environment's registry has {names}" if names else "the environment has no registry"
                raise UserError(f"{self.environment}: which image? give --image; {has}")
            wanted = next(iter(self.repositories))
        name, mark, rest = wanted.partition("@") if "@" in wanted else wanted.partition(":")
        repository = repository_named(self.repositories, name)
        if repository is None:
            return wanted
        if rest:
            return f"{self.repositories[repository]}{mark}{rest}"
        image = recorded().get(repository)
        if image is None:
            raise UserError(
                f"{self.environment}: image={repository}: no image of it is recorded; build one with "
                f"`gpufleet images build {self.environment} DIR`, or give --image {repository}:TAG"
            )
        return image


def repository_named(repositories: Iterable[str], name: str) -> str | None:
    """The repository of this name, or the only one whose path ends with it: training for dev/training."""
    names = list(repositories)
    if name in names:
        return name
    ends = [each for each in names if each.endswith(f"/{name}")]
    return ends[0] if len(ends) == 1 else None


def settings_from(outputs: Mapping[str, object], environment: str, on: str | None = None) -> Settings:
    """Read a stack's outputs, shown with their secrets. on: one of BACK_ENDS; default as the outputs say.

    Errors: UserError when there is no cluster in them (on AWS Batch: no queue, on Azure Batch: no account), or what is
    there is not what a stack of gpufleet gives.
    """
    jobs = _mapping(outputs, "jobs", environment)
    on = on or str(jobs.get("on") or "kubernetes")
    if on not in BACK_ENDS:
        raise UserError(f"{environment}: the stack's output jobs.on={on}: {use_one_of(on, BACK_ENDS)}")
    if on == "kubernetes":
        _look_at_kubeconfig(outputs, environment)
    azure_batch = azure_batch_settings(jobs, environment) if on == "azure-batch" else None
    pools = _mapping(_mapping(jobs, "azure_batch", environment) if azure_batch else jobs, "pools", environment)
    return Settings(
        environment=environment,
        kubeconfig=outputs.get("kubeconfig"),
        namespace=str(jobs.get("namespace") or "default"),
        pools={name: _pool(name, each) for name, each in pools.items()},
        repositories={name: str(url) for name, url in _mapping(outputs, "registry_urls", environment).items()},
        volume_claim=_text(jobs, "volume_claim"),
        service_account=_text(jobs, "service_account"),
        image_pull_secret=_text(jobs, "image_pull_secret"),
        queue=_text(jobs, "queue"),
        batch=batch_settings(jobs, environment) if on == "batch" else None,
        azure_batch=azure_batch,
        storage=azure_storage(jobs, environment),
    )


def _look_at_kubeconfig(outputs: Mapping[str, object], environment: str) -> None:
    if not outputs.get("kubeconfig"):
        raise UserError(
            f"{environment}: the stack's outputs have no kubeconfig; run `pulumi up -s {environment}` first"
        )
    if outputs["kubeconfig"] == "[secret]":
        raise UserError(
            f"{environment}: the kubeconfig is hidden in these outputs; write them with "
            f"`pulumi stack output -s {environment} --json --show-secrets`"
        )


def _pool(name: str, output: Any) -> Pool:  # noqa: ANN401 - JSON
    types = list(output.get("types") or [])
    known: dict[str, GpuType] = {**aws().types, **azure().types}
    most = output.get("max")
    return Pool(
        name=name,
        types=types,
        zones=list(output.get("zones") or []),
        network=str(output.get("network") or "plain"),
        # Pulumi's outputs have no whole numbers: 2 comes back as 2.0.
        max=None if most is None else int(most),
        records=[known[each] for each in types if each in known],
        label=str(output.get("label") or name),
        taints=list(output.get("taints") or []),
    )


def _mapping(values: Mapping[str, Any], key: str, environment: str) -> Mapping[str, Any]:
    found = values.get(key) or {}
    if not isinstance(found, Mapping):
        raise UserError(f"{environment}: the stack's output {key} is no mapping; it is not a stack of gpufleet")
    return found


def _text(values: Mapping[str, Any], key: str) -> str | None:
    return str(values[key]) if values.get(key) else None
