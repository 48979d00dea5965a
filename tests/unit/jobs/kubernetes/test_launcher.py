"""The launcher's first process says in one line which network NCCL has to take. The rest of it: tests/openmpi."""

import os
import subprocess
from pathlib import Path

import pytest

from gpufleet.jobs.kubernetes.pod_entrypoints import launcher_process
from gpufleet.jobs.mpi_network import network_environment

TCP = "gpufleet: NCCL uses TCP between nodes (NCCL_NET=Socket)"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        (network_environment("plain"), [TCP]),
        (network_environment("efa"), ["gpufleet: NCCL uses AWS Libfabric between nodes, or the job fails (NCCL_NET)"]),
        ({}, []),
    ],
    ids=["plain", "efa", "the user's own"],
)
def test_log_says_which_network_nccl_has_to_take(tmp_path: Path, environment: dict[str, str], said: list[str]) -> None:
    (tmp_path / "hosts").write_text("llm-worker-0.llm.vision.svc slots=8\n")
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\n")
    ssh.chmod(0o755)
    key = tmp_path / "id_rsa.pub"
    key.write_text("ecdsa-sha2-nistp521 AAAA\n")
    there = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "OMPI_MCA_orte_default_hostfile": str(tmp_path / "hosts"),
    }
    command = launcher_process(str(key), 100, "-p 2222", ["echo", "ran"])
    done = subprocess.run(command, env={**there, **environment}, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr.splitlines()) == ("ran\n", said)
