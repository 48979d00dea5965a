"""Bash lines of a job's script, shared by Slurm and hosts."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from gpufleet.jobs.mpi_network import network_environment

RESERVED_VARIABLES = ("GPUFLEET_AFTER_OUTPUTS", "GPUFLEET_JOB", "GPUFLEET_OUTPUTS", "GPUFLEET_TRY")


def rank_network(network: str, interface: str | None) -> dict[str, str]:
    """Environment variables of every rank about the network. interface: None where MPI and NCCL choose themselves."""
    result = network_environment(network, interface or "{none}")
    return {name: value for name, value in result.items() if "{none}" not in value}


def exports(environment: Mapping[str, str]) -> list[str]:
    return [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]


def mpirun_exports(names: Iterable[str]) -> list[str]:
    """mpirun's options that give variables to ranks on other hosts; OpenMPI passes on its own by itself."""
    return [word for name in names if not name.startswith("OMPI_") for word in ("-x", name)]


def end_function(folder: str) -> list[str]:
    """The function `end CODE`: leave the exit code in the job's folder, whole or not at all, and end the script."""
    file = f"{folder}/exit.txt"
    return ["end() {", f'    echo "$1" >{file}.part && mv -f {file}.part {file}', '    exit "$1"', "}"]


def retry_loop(name: str, command: Sequence[str], retries: int) -> list[str]:
    """Run a command of quoted words until it succeeds or no attempt is left."""
    most = retries + 1
    return [
        f"for try in $(seq {most}); do",
        "    export GPUFLEET_TRY=$try",
        f"    {' '.join(command)} </dev/null && end 0",
        "    code=$?",
        f'    [ "$try" = {most} ] || echo "gpufleet: {name}: try $try of {most} ended with code $code" >&2',
        "done",
        'end "$code"',
    ]
