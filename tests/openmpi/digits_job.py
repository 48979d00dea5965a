"""The job that the runs share: `digits`, two workers with two ranks each."""

from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, launcher_command, rank_environment

_TRAIN = "python3 train.py --batch 16 --log-every 10 --steps 120 --checkpoint-every 50"

JOB: MpiJobArgs = {
    "namespace": "research",
    "workers": 2,
    "gpus_per_worker": 2,
    "image": "registry.example/train:1",
    "command": _TRAIN.split(),
    "volume_claim": "shared-files",
    # Two cores for four ranks: one thread each.
    "env": {"OMP_NUM_THREADS": "1"},
}


def command(*words: str, grace_seconds: int | None = None) -> list[str]:
    """The launcher's command of the same job for another program, and with another grace."""
    args = {**JOB, "command": list(words)} | ({"grace_seconds": grace_seconds} if grace_seconds else {})
    return launcher_command(args, rank_environment("digits", args))
