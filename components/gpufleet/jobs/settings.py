"""The settings of an environment's jobs, read from the outputs of its stack."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpufleet.errors import UserError
from gpufleet.images.repository import repository_named
from gpufleet.jobs.aws_batch.settings import AwsBatchSettings, aws_batch_settings
from gpufleet.jobs.azure_batch.settings import AzureBatchSettings, azure_batch_settings
from gpufleet.jobs.azure_storage.paths import AzureStorage, azure_storage
from gpufleet.jobs.hosts.settings import HostsSettings, hosts_settings
from gpufleet.jobs.pool_info import PoolInfo, pool_info
from gpufleet.jobs.slurm.settings import SlurmSettings, slurm_settings
from gpufleet.jobs.stack_output import parse_jobs_output
from gpufleet.rules.messages import join_words, use_one_of
from gpufleet.users.team_users import logged_in, users_from_outputs
from gpufleet.users.user import User

BACKENDS = ("kubernetes", "batch", "azure-batch", "slurm", "hosts")
"""What runs jobs, as values of `--on`: Kubernetes, AWS Batch, Azure Batch, Slurm, on-prem servers over ssh."""

RecordedImages = Callable[[], Mapping[str, str]]
"""Returns the image that `gpufleet images build` recorded for each repository, by the repository's name."""


@dataclass(frozen=True)
class JobSettings:
    """An environment's settings for jobs. repositories: URL by name.

    batch: AWS Batch, if it runs the jobs; then there is no kubeconfig. azure_batch: the same for Azure Batch; the
    kubeconfig is that of the cluster beside it, if there is one.
    """

    environment: str
    kubeconfig: object
    namespace: str
    pools: Mapping[str, PoolInfo]
    repositories: Mapping[str, str]
    volume_claim: str | None
    service_account: str | None
    image_pull_secret: str | None
    queue: str | None
    batch: AwsBatchSettings | None = None
    azure_batch: AzureBatchSettings | None = None
    storage: AzureStorage | None = None
    """The storage account beside Azure Batch, whatever runs the jobs."""
    slurm: SlurmSettings | None = None
    """Where Slurm runs the jobs."""
    hosts: HostsSettings | None = None
    """Where on-prem servers without a scheduler run them."""
    team: str | None = None
    """The team, where several share the cluster."""
    project: str | None = None
    users: Mapping[str, User] = field(default_factory=dict)
    """The team's users by name; where there are none, jobs run as uid 1000 of their image."""

    overflow: Mapping[str, Any] = field(default_factory=dict)
    """How jobs move from pool to pool, as `gpufleet.jobs.stack_output.OverflowOutput`; empty: they do not."""
    topology: str | None = None
    """Node label of the network's level in which a job's workers are to lie, if they fit; None: the queue has none."""
    quota: Mapping[str, int] | None = None
    """GPUs of each pool that the team's jobs may hold at a time; None: not known."""

    budgets: Mapping[str, Any] = field(default_factory=dict)
    """Budgets of users and projects, as `gpufleet.jobs.budgets.JobBudgetsConfig`."""
    usd_per_gpu_hour: Mapping[str, float] = field(default_factory=dict)
    """What an hour of one GPU costs in pools, by name, where no price list says it."""

    read_claims: Mapping[str, str] = field(default_factory=dict)
    """Claims that jobs mount to read only, by path."""

    @property
    def on(self) -> str:
        """What runs the jobs: one of BACK_ENDS."""
        if self.azure_batch:
            return "azure-batch"
        if self.slurm or self.hosts:
            return "slurm" if self.slurm else "hosts"
        return "batch" if self.batch else "kubernetes"

    def pool(self, name: str | None) -> PoolInfo:
        """The pool of this name, or the only one. Errors: UserError for an unknown one, or none given among several."""
        if not self.pools:
            raise UserError(
                f"{self.environment}: the stack's outputs have no GPU pool ({self._pools_are_at}); "
                "add one to gpufleet:pools and run `pulumi up`"
            )
        if name is None:
            if len(self.pools) > 1:
                raise UserError(f"{self.environment}: which pool? use --pool {join_words(self.pools)}")
            return next(iter(self.pools.values()))
        if name not in self.pools:
            raise UserError(f"{self.environment}: pool={name}: no such pool; {use_one_of(name, list(self.pools))}")
        return self.pools[name]

    @property
    def _pools_are_at(self) -> str:
        return "jobs.azure_batch.pools" if self.azure_batch else "jobs.pools"

    def image(self, wanted: str | None, recorded: RecordedImages) -> str:
        """The image's full name: of the environment's own registry where no registry is named.

        wanted: a repository's name, alone or with :TAG or @DIGEST, or an image's full name; None: the only repository.
        recorded: asked only for a repository without tag or digest. Errors: UserError when it is not clear which.
        """
        if wanted is None:
            if len(self.repositories) != 1:
                names = join_words(self.repositories, "and")
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


def read_settings(
    outputs: Mapping[str, object], environment: str, on: str | None = None, team: str | None = None
) -> JobSettings:
    """Read a stack's outputs, shown with their secrets. on: one of BACK_ENDS; default as the outputs say. team: whose
    namespace, where several teams share the cluster.

    Errors: UserError when there is no cluster in them (on AWS Batch: no queue, on Azure Batch: no account), or what is
    there is not what a stack of gpufleet gives.
    """
    jobs = parse_jobs_output(outputs.get("jobs"), environment)
    on = on or str(jobs.get("on") or "kubernetes")
    if on not in BACKENDS:
        raise UserError(f"{environment}: the stack's output jobs.on={on}: {use_one_of(on, BACKENDS)}")
    if on == "kubernetes":
        _check_kubeconfig(outputs, environment)
    jobs = _of_team(jobs, environment, team)
    azure_batch = azure_batch_settings(jobs, environment) if on == "azure-batch" else None
    pools = _mapping(_mapping(jobs, "azure_batch", environment) if azure_batch else jobs, "pools", environment)
    return JobSettings(
        environment=environment,
        kubeconfig=outputs.get("kubeconfig"),
        namespace=str(jobs.get("namespace") or "default"),
        pools={name: pool_info(name, each) for name, each in pools.items()},
        repositories={name: str(url) for name, url in _mapping(outputs, "registry_urls", environment).items()},
        volume_claim=_text(jobs, "volume_claim"),
        read_claims=_mapping(jobs, "read_claims", environment),
        service_account=_text(jobs, "service_account"),
        image_pull_secret=_text(jobs, "image_pull_secret"),
        queue=_text(jobs, "queue"),
        batch=aws_batch_settings(jobs, environment) if on == "batch" else None,
        azure_batch=azure_batch,
        storage=azure_storage(jobs, environment),
        slurm=slurm_settings(jobs, environment) if on == "slurm" else None,
        hosts=hosts_settings(jobs, environment) if on == "hosts" else None,
        team=_text(jobs, "team"),
        project=_text(jobs, "project"),
        overflow=_mapping(jobs, "overflow", environment),
        topology=_text(jobs, "topology"),
        quota=_mapping(jobs, "quota", environment) if "quota" in jobs else None,
        budgets=_mapping(jobs, "budgets", environment),
        usd_per_gpu_hour=_mapping(jobs, "usd_per_gpu_hour", environment),
        users=users_from_outputs(_mapping(jobs, "users", environment), jobs.get("gid")),
    )


def ownership_tags(settings: JobSettings) -> dict[str, str]:
    """Tags of a job on AWS Batch, or metadata on Azure Batch: its environment, its project, and who submits it.

    The project is that of the environment, as on its other resources, so that a bill by tag has both in one line.
    Legal characters: docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html.
    """
    user = re.sub(r"[^\w .:/=+@-]", "-", logged_in())[:256]
    return {"environment": settings.environment, "project": settings.project or settings.environment, "user": user}


def _of_team(jobs: Mapping[str, Any], environment: str, team: str | None) -> Mapping[str, Any]:
    """The output with what the team has instead of others. Errors: UserError when it is not clear which team."""
    teams = _mapping(jobs, "teams", environment)
    if not teams:
        if team is not None:
            raise UserError(f"{environment}: team={team}: the environment has one team only; leave --team out")
        return jobs
    if team is None and len(teams) > 1:
        raise UserError(f"{environment}: which team? use --team {join_words(sorted(teams))}")
    team = team or next(iter(teams))
    if team not in teams:
        raise UserError(f"{environment}: team={team}: no such team; {use_one_of(team, sorted(teams))}")
    return {**jobs, **teams[team], "team": team}


def _check_kubeconfig(outputs: Mapping[str, object], environment: str) -> None:
    if outputs.get("phase") == "cloud":
        raise UserError(
            f"{environment}: gpufleet:phase=cloud: nothing is installed on its cluster yet; `gpufleet link "
            f"{environment}` says what comes next"
        )
    if not outputs.get("kubeconfig"):
        raise UserError(
            f"{environment}: the stack's outputs have no kubeconfig; run `pulumi up -s {environment}` first"
        )
    if outputs["kubeconfig"] == "[secret]":
        raise UserError(
            f"{environment}: the kubeconfig is hidden in these outputs; write them with "
            f"`pulumi stack output -s {environment} --json --show-secrets`"
        )


def _mapping(values: Mapping[str, Any], key: str, environment: str) -> Mapping[str, Any]:
    found = values.get(key) or {}
    if not isinstance(found, Mapping):
        raise UserError(f"{environment}: the stack's output {key} must be a mapping; this is not a gpufleet stack")
    return found


def _text(values: Mapping[str, Any], key: str) -> str | None:
    return str(values[key]) if values.get(key) else None
