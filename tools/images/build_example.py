"""`python -m tools.images.build_example [NETWORK ...]`: build examples/train's image as far as this machine reaches.

The Dockerfile is built as it stands, by buildah, once for each network. A base image that cannot be fetched is replaced
by a stand-in, Debian's packages by debootstrap; a download that cannot be fetched ends its RUN. Every step is listed
with what became of it, then the image is tried as a job uses it, on CPUs. No image is kept: those with a stand-in are
not the example's. Some 4 GB to fetch, 30 GB of disk for as long as it takes, root, Debian or Ubuntu.

Exit codes: 0 when all that can be fetched was built and tried; 1 after a line that says what failed.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from gpufleet.images.cuda import cuda_of
from tools.debian import have
from tools.images.dockerfile_steps import BuildableStage, Step, buildable

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "train"
NETWORKS = ("plain", "efa", "infiniband")
SUITE = "bookworm"
"""Of Debian: its OpenMPI is 4.1, as that of Ubuntu 24.04, which the Dockerfile begins with; the next one's is 5."""
STAND_IN = f"Debian {SUITE} by debootstrap, a stand-in: not CUDA's image, not Ubuntu"
_STAND_IN_IMAGE = "localhost/stand-in-for-tests"
_AUTHORITIES = "/run/authorities-of-pip.crt"
_USER = "ubuntu"
"""Ubuntu's images have it from 23.04 on, with the uid 1000."""
TRIALS = (
    ("libraries", 'python3 -c "import boto3, mpi4py.MPI, numpy, torch; torch.version.cuda or exit(1)"'),
    ("user", "test $(id -u) = 1000"),
    ("no host key", "! ls /etc/ssh/ssh_host_*"),
    ("sshd without root", "ssh-keygen -q -t ed25519 -N '' -f /tmp/key && /usr/sbin/sshd -t -f /dev/null -h /tmp/key"),
    (
        "training, two ranks on CPUs",
        "MASTER_ADDR=127.0.0.1 mpirun -np 2 --oversubscribe --bind-to none "
        "python3 train.py --synthetic --steps 2 --checkpoints /tmp/checkpoints",
    ),
)
"""As the image's own user, in its own directory."""


_EXIT_STATUS = re.compile("subprocess exited with status|Error: exit status")
"""What buildah says after a program's own words."""


class StepFailed(Exception):
    """The text is what the user sees."""


class Builder:
    """buildah with layers of its own in `folder`, away from the user's; RUN without an OCI runtime."""

    def __init__(self, folder: Path) -> None:
        self._storage = folder / "storage.conf"
        self._storage.write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/layers"\nrunroot = "{folder}/run"\n'
        )
        # pip of the image reaches its index as that of this machine does, also through a proxy with an authority.
        pip = machines_pip()
        self._volumes = [f"{folder / 'pip.conf'}:/etc/pip.conf:ro"]
        if authorities := pip.get("cert"):
            self._volumes.append(f"{authorities}:{_AUTHORITIES}:ro")
            pip["cert"] = _AUTHORITIES
        lines = ["[global]", *(f"{key} = {value}" for key, value in pip.items())]
        (folder / "pip.conf").write_text("\n".join(lines) + "\n")

    def settings(self) -> dict[str, str]:
        return {"CONTAINERS_STORAGE_CONF": str(self._storage), "BUILDAH_ISOLATION": "chroot"}

    def __call__(self, *words: str) -> str:
        """Its standard output. Raises StepFailed with the end of what it said."""
        done = subprocess.run(
            ["buildah", *words],
            env=os.environ | self.settings(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            lines = (done.stdout + done.stderr).strip().splitlines()
            told = "\n".join([each for each in lines if not _EXIT_STATUS.match(each)][-15:])
            raise StepFailed(f"buildah {words[0]}: exit code {done.returncode}\n{told}")
        return done.stdout

    def stand_in(self, folder: Path) -> None:
        """The base image that begins with nothing but Debian's smallest system and the user of Ubuntu's images."""
        root = folder / "root"
        command = ["debootstrap", "--variant=minbase", SUITE, str(root)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise StepFailed(f"debootstrap: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
        subprocess.run(["chroot", root, "useradd", "--uid", "1000", "--create-home", _USER], check=True)
        (folder / "Dockerfile").write_text("FROM scratch\nADD root /\n")
        self("build", "--tag", _STAND_IN_IMAGE, str(folder))
        shutil.rmtree(root)

    def build(self, stage: BuildableStage, network: str, folder: Path) -> str:
        """The image's name. folder: for the Dockerfile."""
        file = folder / f"Dockerfile.{network}"
        file.write_text(stage.text)
        image = f"localhost/example-{network}"
        words = ["build", "--layers", "--file", str(file), "--tag", image, "--build-arg", f"NETWORK={network}"]
        words += [f"--volume={each}" for each in self._volumes]
        if any(step.state == "replaced" for step in stage.steps):
            words += ["--build-context", f"{stage.base}=container-image://{_STAND_IN_IMAGE}"]
        self(*words, str(EXAMPLE))
        return image

    def trials(self, image: str) -> dict[str, str]:
        """Each trial, and the last lines of what it said where it failed, else nothing."""
        container = self("from", "--pull-never", image).strip()
        outcomes = {}
        for what, command in TRIALS:
            try:
                self("run", container, "--", "sh", "-c", command)
                outcomes[what] = ""
            except StepFailed as failure:
                outcomes[what] = str(failure)
        self("rm", container)
        return outcomes

    def clear(self) -> None:
        self("rm", "--all")
        self("rmi", "--all", "--force")


def machines_pip() -> dict[str, str]:
    """How pip of this machine reaches its index: those of its options that say so."""
    asked = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    pairs = (line.partition("=") for line in told.splitlines())
    options = {key.rpartition(".")[2]: ast.literal_eval(value) for key, _, value in pairs}
    return {key: options[key] for key in ("cert", "default-timeout", "index-url") if key in options}


@cache
def fetchable(url: str) -> bool:
    """Whether this machine is given the URL's headers."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=60):
            return True
    except OSError:
        return False


@cache
def replacement(image: str) -> str:
    """By what a base image is replaced; empty where its registry gives it."""
    asked = subprocess.run(["skopeo", "inspect", "--raw", f"docker://{image}"], capture_output=True, timeout=300)
    return "" if asked.returncode == 0 else f"by {STAND_IN}; {image.partition('/')[0]} is not reached"


def listing(steps: Sequence[Step]) -> list[str]:
    """A line for each step."""
    return [f"  {each.line:3} {each.state:11} {each.text}{f'  [{each.why}]' if each.why else ''}" for each in steps]


def summary(network: str, steps: Sequence[Step], trials: Mapping[str, str], cuda: str | None) -> list[str]:
    """What was built of an image, how it ran, and what it is not."""
    states = [each.state for each in steps]
    counted = ", ".join(f"{states.count(state)} {state}" for state in ("run", "replaced", "not fetched", "not run"))
    whole = set(states) == {"run"}
    ending = "the example's, whole" if whole else "NOT the example's: see the steps that did not run as they stand"
    return [
        f"{network}: {len(steps)} steps: {counted}",
        *(f"{network}: {what}: {f'FAILED: {told}' if told else 'passed'}" for what, told in trials.items()),
        f"{network}: CUDA as `gpufleet images build` reads it: {cuda or 'none'}",
        f"{network}: the image is {ending}",
    ]


def build_all(networks: Sequence[str], folder: Path, say: Callable[[str], None]) -> int:
    """Build and try the images; the number of trials that failed. Raises StepFailed."""
    builder = Builder(folder)
    text = (EXAMPLE / "Dockerfile").read_text(encoding="utf-8")
    stages = {network: buildable(text, {"NETWORK": network}, fetchable, replacement) for network in networks}
    failed = 0
    try:
        if any(step.state == "replaced" for stage in stages.values() for step in stage.steps):
            say(f"base image: {STAND_IN}")
            place = folder / "stand-in"
            place.mkdir(exist_ok=True)
            builder.stand_in(place)
        for network, stage in stages.items():
            say(f"{network}: building")
            image = builder.build(stage, network, folder)
            trials = builder.trials(image)
            failed += sum(1 for told in trials.values() if told)
            os.environ.update(builder.settings())  # cuda_of runs buildah by itself
            for line in (*listing(stage.steps), *summary(network, stage.steps, trials, cuda_of("buildah", image))):
                say(line)
    finally:
        builder.clear()
    return failed


def main(networks: Sequence[str]) -> int:
    if unknown := [each for each in networks if each not in NETWORKS]:
        print(f"{unknown[0]}: must be one of {', '.join(NETWORKS)}", file=sys.stderr)
        return 1
    if code := have(("buildah", "debootstrap", "skopeo"), "images"):
        return code
    try:
        with tempfile.TemporaryDirectory(prefix="gpufleet-example-", dir="/var/tmp") as name:
            return int(build_all(networks or NETWORKS, Path(name), lambda line: print(line, flush=True)) > 0)
    except StepFailed as failure:
        print(f"images: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
