# Keys of a node, in memory and of nobody but the job's user; and the proof that a node belongs to the job.
from __future__ import annotations

import hmac
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from gpufleet.jobs.node_runtime.aws_context import job_id
from gpufleet.jobs.node_runtime.process import NodeExit, find_program

HERE = Path("/dev/shm/gpufleet")


def make_folder() -> None:
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(0o700)


# A new key pair NAME and NAME.pub; returns the public half.
def make_key(name: str) -> str:
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        raise NodeExit(f"the image has no user {os.getuid()}, and ssh needs one; add it to /etc/passwd") from None
    words = [find_program("ssh-keygen", "openssh-client"), "-q", "-t", "ed25519", "-N", "", "-C", "gpufleet", "-f"]
    if subprocess.run([*words, str(HERE / name)], stdin=subprocess.DEVNULL, check=False).returncode:
        raise NodeExit(f"ssh-keygen failed to create a key in {HERE}; give the job shared memory")
    return (HERE / f"{name}.pub").read_text().strip()


# What only a node of this job can say of these words. GPUFLEET_JOB_KEY comes with a submission, to its nodes alone.
# A job that was submitted otherwise has none; then its id has to do, which is random on AWS Batch, but no secret.
def proof(*words: str) -> str:
    key = os.environ.get("GPUFLEET_JOB_KEY", "") + job_id()
    return hmac.new(key.encode(), " ".join(words).encode(), "sha256").hexdigest()
