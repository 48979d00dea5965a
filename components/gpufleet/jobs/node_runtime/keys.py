# Keys of a node, in memory and of nobody but the job's user.
from __future__ import annotations

import os
import pwd
import shutil
import subprocess

from gpufleet.jobs.node_runtime.process import HERE, NodeExit, find_program


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
