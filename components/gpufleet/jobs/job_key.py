"""What the nodes of one batch job have in common, and no other job has: by it they know each other."""

import secrets

JOB_KEY = "GPUFLEET_JOB_KEY"
"""The variable of a job's containers; `node_runtime.proof` reads it."""


def new_job_key() -> str:
    """A key for one submission: 128 random bits as text.

    Batch hands it to the job's own nodes. Who may describe jobs reads it too, as all that a job is sent with; another
    job's container may not: no role that gpufleet makes for jobs has a right on Batch.
    """
    return secrets.token_hex(16)
