"""An MPI job from a SIF by Slurm, as an ordinary user: ranks started by mpirun outside, and by Slurm itself."""

import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.ssh import follow
from tests.singularity.ranks import RANK, containers, ranks
from tests.singularity.servers import SQUASHFUSE
from tests.slurm.slurm_cluster import GPUS, SlurmCluster, listens, missing, slurm_cluster
from tests.tools.guide_commands import guide_commands
from tools.ports import free_ports

pytestmark = pytest.mark.cluster

USER, UID = "trainer", 64123
ALLREDUCE = Path(__file__).parents[1] / "openmpi" / "allreduce.py"
FUSE = os.makedev(10, 229)

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def cluster(program: Path, sif: Path) -> Iterator[SlurmCluster]:
    """Nodes that know a user, and have the program as an administrator installs it without setuid."""
    if lacking := missing():
        pytest.exit(f"missing: {' '.join(lacking)}; run: python -m tools.slurm.install", returncode=1)
    # pytest's folders are closed to other users. Containers see /tmp and not /var/spool, where slurmd's files are on
    # nodes, nor /run, where they are here.
    with (
        tempfile.TemporaryDirectory(prefix="gpufleet-slurm-") as name,
        tempfile.TemporaryDirectory(prefix="gpufleet-slurm-", dir="/run") as spool,
    ):
        folder = Path(name)
        for each in (name, spool):
            Path(each).chmod(0o755)
        lines = {"passwd": f"{USER}:x:{UID}:{UID}::{folder}/home:/bin/bash\n", "group": f"{USER}:x:{UID}:\n"}
        for kind, line in lines.items():
            (folder / kind).write_text(Path("/etc", kind).read_text() + line)
        for kind in ("home", "bin"):
            (folder / kind).mkdir()
        (folder / "bin" / "squashfuse_ll").write_text(SQUASHFUSE)
        (folder / "bin" / "squashfuse_ll").chmod(0o755)
        os.mknod(folder / "fuse", 0o666 | stat.S_IFCHR, FUSE)
        (folder / "fuse").chmod(0o666)
        mounts = {f"/etc/{kind}": folder / kind for kind in lines} | {"/dev/fuse": folder / "fuse", "/opt": program}
        with slurm_cluster(folder, mounts, Path(spool)) as made:
            made.ask(*made.inside, "sacctmgr", "--immediate", "add", "user", USER, "account=lab")
            shutil.copy(ALLREDUCE, made.shared)
            shutil.copy(sif, made.shared)
            for each in (made.shared, folder / "home"):
                shutil.chown(each, UID, UID)
            yield made


@pytest.fixture(scope="module")
def login(cluster: SlurmCluster) -> dict[str, str]:
    """How the user reaches the cluster."""
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(cluster.folder / name)]
        subprocess.run(words, check=True, timeout=600)
    port = free_ports(1)[0]
    Path("/run/sshd").mkdir(exist_ok=True)
    options = {
        "AuthorizedKeysFile": cluster.folder / "user.pub",
        "ListenAddress": f"127.0.0.1:{port}",
        "PasswordAuthentication": "no",
        "PidFile": "none",
        "SetEnv": f"SLURM_CONF={cluster.environment['SLURM_CONF']}",
        "StrictModes": "no",
        "UsePAM": "no",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    cluster.start("sshd", "/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-h", str(cluster.folder / "host"), *words)
    cluster.until(lambda: listens(port), "sshd")
    known = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
    return {"login": f"{USER}@127.0.0.1", "ssh": f"-p {port} -i {cluster.folder}/user {known}"}


@pytest.fixture
def lab(cluster: SlurmCluster, login: dict[str, str], tmp_path: Path) -> Callable[..., Path]:
    """Writes the outputs of `lab`. changed: keys that differ."""
    pool = {"partition": "train", "gpus": GPUS, "gpu": "v100", "interface": "lo"}
    told: dict[str, Any] = {"directory": str(cluster.shared), "pools": {"v100": pool}, **login}
    told["setup"] = [f"export PATH={cluster.folder}/bin:/opt/bin:$PATH"]
    told["images"] = {"pytorch": f"{cluster.shared}/mpi.sif"}

    def write(**changed: object) -> Path:
        outputs = tmp_path / "lab.yaml"
        outputs.write_text(yaml.safe_dump({"jobs": {"on": "slurm", "slurm": {**told, **changed}}}))
        return outputs

    return write


@pytest.fixture
def run(lab: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(follow.SshJobFollower, "shortest", 0.2)
    monkeypatch.setattr(follow.SshJobFollower, "longest", 0.5)

    def invoke(verb: str, *words: str, command: list[str], **changed: object) -> Result:
        outputs = str(lab(**changed))
        return CliRunner().invoke(main, ["jobs", verb, "--outputs", outputs, "lab", *words, "--", *command])

    return invoke


@pytest.mark.parametrize("start", ["mpirun", "srun"])
def test_ranks_run_in_the_image(run: Any, cluster: SlurmCluster, start: str) -> None:
    words = ("--name", start, "--nodes", "2", "--image", "mpi.sif", "--env", "GREETING=hello", "--follow")
    done = run("submit", *words, command=["sh", "-ec", RANK], start=start)
    print(done.stdout)
    assert done.exit_code == 0, done.output
    assert "PMIX ERROR" not in done.stdout
    assert [rank for rank, _ in ranks(done.stdout)] == [0, 1, 2, 3]
    assert done.stdout.count(f"uid={UID}({USER}) gid={UID}") == 4
    assert len(set(containers(done.stdout))) == 4
    assert all(": of the image, hello, user:[" in line for line in containers(done.stdout))
    outputs = cluster.shared / "jobs" / start / "outputs"
    assert {(each.name, each.stat().st_uid) for each in outputs.iterdir()} == {(f"rank-{at}", UID) for at in range(4)}
    assert "Converting SIF file to temporary sandbox" not in done.stdout, "mounted, not unpacked"


def test_guide_of_jobs(
    run: Run, cluster: SlurmCluster, lab: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On two nodes without an image, and by a name of `images` with the program that is sent."""
    bare, boxed = [each for each in guide_commands("jobs") if " lab " in each and "train.sif" not in each]
    lab()
    monkeypatch.chdir(tmp_path)
    shutil.copy(ALLREDUCE, cluster.shared / "train.py")
    done = CliRunner().invoke(main, shlex.split(bare)[1:])
    print(bare, done.output, sep="\n")
    assert done.exit_code == 0, done.output
    assert [rank for rank, _ in ranks(done.stdout)] == [0, 1, 2, 3]
    (cluster.shared / "train.py").unlink()
    before = {each.name for each in (cluster.shared / "jobs").iterdir()}
    told = "import os\nprint(os.environ['IMAGE_VARIABLE'], os.environ['OMPI_COMM_WORLD_RANK'], os.getuid())\n"
    (tmp_path / "train.py").write_text(told)
    done = CliRunner().invoke(main, shlex.split(boxed)[1:])
    assert done.exit_code == 0, done.output
    (job,) = {each.name for each in (cluster.shared / "jobs").iterdir()} - before
    done = CliRunner().invoke(main, ["jobs", "logs", "lab", "--outputs", "lab.yaml", job, "--follow"])
    print(boxed, done.output, sep="\n")
    assert done.exit_code == 0, done.output
    said = {line for line in done.stdout.splitlines() if line.startswith("of the image")}
    assert said == {f"of the image {rank} {UID}" for rank in range(GPUS)}
