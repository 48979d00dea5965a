"""The settings of jobs on Slurm, from `slurm` of the output `jobs`, of a stack or in a file of one's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from gpufleet.errors import UserError
from gpufleet.jobs.ssh.settings import OnpremServersOutput, SshTarget, ssh_target, string_list, whole_number
from gpufleet.rules.messages import format_value, join_words, use_one_of

STARTS = ("mpirun", "srun")
"""What starts the ranks of MPI jobs: OpenMPI's mpirun, which asks Slurm for the rest, or Slurm's own srun."""
NETWORKS = ("plain", "infiniband")


class SlurmPoolOutput(TypedDict, total=False):
    """One kind of node, at `jobs.slurm.pools.NAME`."""

    partition: str
    """Default: the pool's name."""
    gpus: int
    """GPUs of each node; 0 for nodes without. Default: not known, and then a job has to say its --gpus."""
    gpu: str
    """GPU model, as the cluster's gres.conf calls its Type, for instance v100. Default: any."""
    max: int
    """Most nodes of a job. Default: as Slurm allows."""
    time_limit_minutes: int
    """Of jobs that name none. Default: the partition's."""
    account: str
    """Whom jobs are counted on that name no --share. Default: Slurm's default of the user."""
    qos: str
    network: str
    """plain or infiniband. Default: plain."""
    interface: str
    """Network interface of MPI and NCCL. Default: their own choice."""
    options: Sequence[str]
    """Further options of sbatch, for instance --constraint=nvlink."""


class SlurmOutput(OnpremServersOutput, total=False):
    """The key `slurm` of the output `jobs`, beside what all on-prem servers have."""

    pools: Mapping[str, SlurmPoolOutput]
    start: str
    """One of STARTS. Default: mpirun."""
    mpi: str
    """With srun: its --mpi. Default: pmix."""


@dataclass(frozen=True)
class SlurmPool:
    """One kind of node; `SlurmPoolOutput` says what the fields are."""

    name: str
    partition: str
    gpus: int | None = None
    gpu: str | None = None
    max: int | None = None
    time_limit_minutes: int | None = None
    account: str | None = None
    qos: str | None = None
    network: str = "plain"
    interface: str | None = None
    options: Sequence[str] = ()


@dataclass(frozen=True)
class SlurmSettings:
    """A Slurm cluster that runs an environment's jobs."""

    target: SshTarget
    pools: Mapping[str, SlurmPool]
    start: str = "mpirun"
    mpi: str = "pmix"

    def pool(self, environment: str, name: str | None, gpu: str | None) -> SlurmPool:
        """The pool of this name, else the only one (of this GPU model). Errors: UserError."""
        if name is not None:
            if name not in self.pools:
                raise UserError(f"{environment}: pool={name}: no such pool; {use_one_of(name, list(self.pools))}")
            return self.pools[name]
        fitting = {each.name: each for each in self.pools.values() if gpu is None or _model(each) == gpu.lower()}
        if not fitting:
            models = sorted({each.gpu for each in self.pools.values() if each.gpu})
            raise UserError(f"{environment}: gpu={gpu}: no pool has such GPUs; {_models(str(gpu), models)}")
        if len(fitting) > 1:
            raise UserError(f"{environment}: which pool? use --pool {join_words(fitting)}")
        return next(iter(fitting.values()))


def slurm_settings(jobs: Mapping[str, Any], environment: str) -> SlurmSettings:
    """Read the output `jobs`. Errors: UserError if Slurm is missing from it or not valid."""
    values = jobs.get("slurm")
    if not isinstance(values, Mapping):
        raise UserError(
            f"{environment}: its outputs have no Slurm (jobs.slurm); write a file with it (docs/jobs.md) and give "
            "it as --outputs, or leave out --on slurm"
        )
    where = f"{environment}: jobs.slurm"
    pools = values.get("pools")
    if not isinstance(pools, Mapping) or not pools:
        raise UserError(f"{where}.pools: is missing; name at least one, for instance {{train: {{gpus: 4}}}}")
    return SlurmSettings(
        target=ssh_target(values, where),
        pools={str(name): _pool(str(name), each, f"{where}.pools.{name}") for name, each in pools.items()},
        start=_one_of(values, "start", STARTS, where),
        mpi=str(values.get("mpi") or "pmix"),
    )


def _pool(name: str, values: object, where: str) -> SlurmPool:
    output: Mapping[str, Any] = values if isinstance(values, Mapping) else {}
    if values is not None and not isinstance(values, Mapping):
        raise UserError(f"{where}={format_value(values)}: must be a mapping; write {{partition: {name}, gpus: 4}}")
    return SlurmPool(
        name=name,
        partition=_word(output, "partition", where) or name,
        gpus=whole_number(output, "gpus", where),
        gpu=_word(output, "gpu", where),
        max=whole_number(output, "max", where, 1),
        time_limit_minutes=whole_number(output, "time_limit_minutes", where, 1),
        account=_word(output, "account", where),
        qos=_word(output, "qos", where),
        network=_one_of(output, "network", NETWORKS, where),
        interface=_word(output, "interface", where),
        options=_options(output, where),
    )


def _options(output: Mapping[str, Any], where: str) -> list[str]:
    found = string_list(output, "options", where)
    for each in found:
        if not each.startswith("-") or not each.isprintable():
            raise UserError(f"{where}.options={format_value(each)}: is not an sbatch option; write it as --NAME=VALUE")
    return found


def _word(output: Mapping[str, Any], key: str, where: str) -> str | None:
    """A text that is one word of an `#SBATCH` line. Errors: UserError."""
    found = output.get(key)
    if found is None or found == "":
        return None
    if not isinstance(found, str) or not found.isprintable() or set(found) & set(" \"'#\\"):
        raise UserError(f"{where}.{key}={format_value(found)}: use a name without blanks and quotes")
    return found


def _one_of(output: Mapping[str, Any], key: str, legal: Sequence[str], where: str) -> str:
    found = str(output.get(key) or legal[0])
    if found not in legal:
        raise UserError(f"{where}.{key}={format_value(found)}: {use_one_of(found, legal)}")
    return found


def _model(pool: SlurmPool) -> str:
    return (pool.gpu or "").lower()


def _models(gpu: str, models: Sequence[str]) -> str:
    return use_one_of(gpu, models) if models else "say at jobs.slurm.pools.NAME.gpu which a pool has, or use --pool"
