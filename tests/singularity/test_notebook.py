"""A notebook becomes a SIF and a job on own servers, by the guide's line, as an ordinary user on the login node."""

import hashlib
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.openmpi.own_hosts import UID, OwnHosts
from tests.openmpi.test_own_hosts import wait_for
from tests.singularity.servers import PACKAGES, REPOSITORY, ROOT, file
from tests.tools.guide_commands import guide_commands
from tools.cache_entry import cache_directory, make_once

pytestmark = pytest.mark.cluster

LOGIN = "host-0"
PYTHON = Path("/usr/bin/python3").resolve()
"""The servers', and so the image's."""
BASE = f"""Bootstrap: localimage
From: images/mpi.sif

%files
    wheels /wheels
    pip.conf /etc/pip.conf

%post
    pip=$(echo /wheels/pip-*.whl)
    {PYTHON} $pip/pip install --break-system-packages $pip
"""
PIP = "[global]\nno-index = true\nfind-links = /wheels\n"

Run = Callable[[str], str]


@pytest.fixture(scope="session")
def wheels() -> Path:
    """What notebooks need, from the user's package index."""
    requirements = (ROOT / "examples/notebook/requirements.txt").read_text().split()
    asked = [f"--python-version={PYTHON.name.removeprefix('python')}", "pip", "papermill==2.7.0", "ipykernel"]
    asked += requirements

    def download(folder: Path) -> None:
        words = ["download", "--quiet", "--only-binary=:all:", f"--dest={folder}", *asked]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True, timeout=1200)
        (folder / "asked").touch()

    place = cache_directory("singularity", f"wheels-{hashlib.sha256(repr(asked).encode()).hexdigest()[:8]}")
    return make_once(place, "asked", download, "waiting for wheels", print)


@pytest.fixture
def user(hosts: OwnHosts) -> Run:
    """Runs a line of shell as the servers' user on the login node, in a folder of theirs; what it says."""
    for name in ("subuid", "subgid"):
        file(hosts, LOGIN, f"/etc/{name}").write_text("trainer:700000:65536\n")
    folder = hosts.shared / "work"
    for name in ("", "home", "tmp", "bin"):
        (folder / name).mkdir()
        shutil.chown(folder / name, UID, UID)
    command = folder / "bin" / "gpufleet"
    command.write_text(f"#!{PYTHON}\nfrom gpufleet.cli import main\nmain()\n")
    command.chmod(0o755)
    environment = {
        "HOME": f"{folder}/home",
        "PATH": f"{folder}/bin:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": f"{REPOSITORY}/components:{PACKAGES}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": f"{folder}/tmp",
    }
    inside = ["nsenter", f"--target={hosts.pods[LOGIN].first_process()}", "--all", f"--wdns={folder}"]
    inside += ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups"]

    def run(line: str) -> str:
        done = subprocess.run(
            [*inside, "sh", "-ec", line], env=environment, capture_output=True, text=True, timeout=1800, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run


def test_notebook_of_the_guide(user: Run, hosts: OwnHosts, wheels: Path) -> None:
    (line,) = [each for each in guide_commands("notebooks") if " lab " in each]
    asked = shlex.split(line)
    work, images = hosts.shared / "work", hosts.shared / "images"
    shutil.copytree(wheels, work / "wheels")
    shutil.copytree(ROOT / "examples/notebook", work / "examples/notebook", ignore=shutil.ignore_patterns("__*"))
    (work / "pip.conf").write_text(PIP)
    (work / "base.def").write_text(BASE)
    # The site's own copy of an image that no test can pull.
    told: dict[str, Any] = {**hosts.told(), "images": {asked[asked.index("--image") + 1]: "images/base.sif"}}
    del told["login"]
    (work / "lab.yaml").write_text(yaml.safe_dump({"jobs": {"on": "hosts", "hosts": told}}))
    (work / "images").symlink_to(images)
    user("singularity build --fakeroot images/base.sif base.def")

    said = user(line)
    print(said)
    (sif,) = images.glob("notebook-*.sif")
    assert sif.stat().st_uid == UID
    (job,) = [each.name for each in (hosts.shared / "jobs").glob("fit-*")]
    state = lambda: json.loads(user(f"gpufleet jobs status lab {job} --outputs lab.yaml --json"))  # noqa: E731
    wait_for(lambda: state()["state"] in ("succeeded", "failed"), "the end of the notebook")
    log = user(f"gpufleet jobs logs lab {job} --outputs lab.yaml")
    assert state()["state"] == "succeeded", log
    assert "after 20 epochs: y = 1.95 x + 0.98, loss 0.0139" in log
    outputs = hosts.shared / "jobs" / job / "outputs"
    assert {(each.name, each.stat().st_uid) for each in outputs.iterdir()} == {("fit.ipynb", UID)}
    # The same notebook is not built again.
    made = sif.stat().st_mtime_ns
    user(line)
    assert sif.stat().st_mtime_ns == made
