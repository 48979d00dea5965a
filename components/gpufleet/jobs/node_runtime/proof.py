# The proof that a node belongs to the job.
from __future__ import annotations

import hmac
import os

from gpufleet.jobs.node_runtime.aws_context import job_id


# What only a node of this job can say of these words. GPUFLEET_JOB_KEY comes with a submission, to its nodes alone.
# A job that was submitted otherwise has none; then its id has to do, which is random on AWS Batch, but no secret.
def proof(*words: str) -> str:
    key = os.environ.get("GPUFLEET_JOB_KEY", "") + job_id()
    return hmac.new(key.encode(), " ".join(words).encode(), "sha256").hexdigest()
