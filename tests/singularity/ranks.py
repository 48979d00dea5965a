"""What each rank of the tests' job runs and prints."""

import json

RANK = """id; echo "in $SINGULARITY_CONTAINER: $IMAGE_VARIABLE, $GREETING, $(readlink /proc/self/ns/user)"
echo $OMPI_COMM_WORLD_RANK >"$GPUFLEET_OUTPUTS/rank-$OMPI_COMM_WORLD_RANK"
exec python3 allreduce.py"""


def ranks(text: str) -> list[tuple[int, str]]:
    """Rank and host of each of four; all of them must have the right sum."""
    told = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert all((each["size"], each["least"], each["most"]) == (4, 10, 10) for each in told)
    return sorted((each["rank"], each["host"]) for each in told)


def containers(text: str) -> list[str]:
    """What each rank says of its container: one line is the same for ranks that share one."""
    return [line for line in text.splitlines() if line.startswith("in ")]
