"""An image in a registry becomes a SIF by the line that `gpufleet images apptainer` prints, with the real program."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from gpufleet.cli import main
from tests.cluster.registry_program import RegistryProgram, registry_program
from tests.singularity.mpi_image import UID, image_archive

pytestmark = pytest.mark.cluster

DOCKERFILE = """FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
RUN mkdir -p /etc /tmp /usr/local/share && echo root:x:0:0::/root:/bin/sh >/etc/passwd && echo root:x:0: >/etc/group
ENV IMAGE_VARIABLE="of the image"
"""
USER = "researcher"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProgram]:
    with registry_program(tmp_path_factory.mktemp("registry")) as made:
        yield made


@pytest.fixture(scope="module")
def digest(registry: RegistryProgram, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of an image in it with a shell."""
    folder = tmp_path_factory.mktemp("image")
    (folder / "tree").mkdir()
    shutil.copy(shutil.which("busybox") or "busybox", folder / "tree")
    image_archive(folder / "tree", DOCKERFILE, folder / "base.tar", folder / "storage")
    target = ["--dest-tls-verify=false", "--authfile", str(registry.login), f"docker://{registry.host}/lab/base:1"]
    subprocess.run(["skopeo", "copy", "--quiet", f"oci-archive:{folder}/base.tar", *target], check=True, timeout=600)
    body = registry.manifest("lab/base", "1")[2]
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


@pytest.fixture
def shell(program: Path, tmp_path: Path) -> list[str]:
    """What a line of shell is run by, as a user with a range of ids, in `tmp_path`, which is bound to /mnt."""
    (tmp_path / "passwd").write_text(f"{Path('/etc/passwd').read_text()}{USER}:x:{UID + 7}:{UID + 7}::/mnt:/bin/sh\n")
    for name in ("subuid", "subgid"):
        (tmp_path / name).write_text(f"{USER}:700000:65536\n")
    bound = "".join(f"mount --bind {tmp_path}/{name} /etc/{name} && " for name in ("passwd", "subuid", "subgid"))
    script = (
        f"mount --bind {program} /opt && {bound}mount --bind {tmp_path} /mnt && "
        f'cd /mnt && exec setpriv --reuid {UID + 7} --regid {UID + 7} --clear-groups "$@"'
    )
    os.chown(tmp_path, UID + 7, UID + 7)
    return ["unshare", "--mount", "sh", "-ec", script, "sh"]


def test_a_recipe_becomes_a_sif(
    registry: RegistryProgram, digest: str, shell: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrap = {"run": ["echo put on top >/on-top"]}
    image = {"from": f"{registry.host}/lab/base", "tags": [f"1@{digest}"], "wrap": wrap}
    (tmp_path / "images.yaml").write_text(yaml.safe_dump({"to": "registry.lab/dev", "images": [image]}))
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(main, ["images", "apptainer", "images.yaml", "--to", "sifs", "--from-source"])
    assert printed.exit_code == 0, printed.output
    shutil.copy(registry.login, tmp_path / "login.json")
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, UID + 7, UID + 7)
    environment = {
        "PATH": "/opt/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/mnt",
        "TMPDIR": "/mnt",
        "SINGULARITY_CACHEDIR": "/mnt/cache",
        "REGISTRY_AUTH_FILE": "/mnt/login.json",
        "DOCKER_CONFIG": "/mnt",
    }
    user, password = "team", "of-no-value"
    environment |= {"SINGULARITY_DOCKER_USERNAME": user, "SINGULARITY_DOCKER_PASSWORD": password}

    def run(line: str) -> str:
        done = subprocess.run(
            [*shell, "sh", "-ec", line], env=environment, capture_output=True, text=True, timeout=1200, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    run(printed.stdout)
    said = run("singularity exec sifs/base-1.sif sh -c 'id; cat /on-top; echo \"$IMAGE_VARIABLE\"'")
    assert said.splitlines()[0].startswith(f"uid={UID + 7}({USER})")
    assert said.splitlines()[1:] == ["put on top", "of the image"]
    labels = json.loads(run("singularity inspect --json --labels sifs/base-1.sif"))["data"]["attributes"]["labels"]
    assert labels["org.opencontainers.image.base.digest"] == digest
    assert labels["dev.gpufleet.platform"] == "linux/amd64"
