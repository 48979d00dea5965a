"""What the played batch services have in common: how long a container that does not run takes, and how it ends."""

EXIT_CODE = "rehearsal.gpufleet.dev/exit-code"
"""Mark of a job (`gpufleet jobs submit --tag`) that says how its container ends."""
RUN_SECONDS = 60.0
"""A choice of the rehearsal: no container runs."""
LOOK_SECONDS = 600.0
"""What passes from one request to the next where a rehearsal does not wait (latency scale 0)."""


def exit_code(mark: str | None) -> int | None:
    """The exit code that a mark asks for, 0 without one; None (`none`): it runs until somebody ends it."""
    told = "0" if mark is None else mark
    return int(told) if told.isdecimal() else None


def log_line(image: str, nodes: int, pool: str) -> str:
    """What a container that does not run writes, without a line break."""
    return f"rehearsed: no container ran; {image} on {nodes} {'node' if nodes == 1 else 'nodes'} of {pool}"
