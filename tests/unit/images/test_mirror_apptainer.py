"""Recipes for Apptainer: what stands in them, and that the script of what is put on top does what the list says.

The grammar is held against the words of Apptainer's own parser; SingularityCE builds them in tests/singularity.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main

REGISTRY = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
SOURCE, PUSHED = f"sha256:{64 * 'a'}", f"sha256:{64 * 'b'}"
LIST: dict[str, Any] = {
    "to": f"{REGISTRY}/dev",
    "logins": [{"registry": "nvcr.io", "user": "$oauthtoken", "password_env": "NGC_API_KEY"}],
    "images": [{"from": "nvcr.io/nvidia/pytorch", "tags": ["25.10-py3"], "to": "training/llm"}],
}
LOCKED = {
    "source": "nvcr.io/nvidia/pytorch:25.10-py3",
    "digest": SOURCE,
    "platform": "linux/amd64",
    "inputs": 64 * "c",
    "tag": "25.10-py3-cccccccccccc",
    "pushed": PUSHED,
    "sbom": {"file": "images.sbom/x", "sha256": 64 * "d"},
}
NAME = f"{REGISTRY}/dev/training/llm:25.10-py3"
BUILD = '$(command -v apptainer || command -v singularity) build $([ "$(id -u)" = 0 ] || echo --fakeroot)'
SECTIONS = {"files", "post", "environment", "labels", "test"}


def parsed(text: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Header and sections, split where Apptainer splits them: at each line whose first word begins with %."""
    assert "{{" not in text, "a template of Apptainer's"
    assert len(re.findall(r"(?mi)^bootstrap:", text)) == 1, "a stage of its own"
    parts = re.split(r"(?m)^\s*%", text)
    header = dict(line.split(": ", 1) for line in parts[0].strip().splitlines())
    sections = {}
    for part in parts[1:]:
        name, *lines = part.splitlines()
        assert name in SECTIONS
        assert name not in sections
        sections[name] = [line.strip() for line in lines if line.strip()]
    return header, sections


def run(folder: Path, *words: str, locked: bool = True, **changes: object) -> Result:
    (folder / "images.yaml").write_text(yaml.safe_dump(LIST | changes))
    if locked:
        lock = {"version": 1, "images": {NAME: LOCKED}}
        (folder / "images.lock.json").write_text(json.dumps(lock))
    command = ["images", "apptainer", str(folder / "images.yaml"), "--to", str(folder / "my sifs"), *words]
    return CliRunner().invoke(main, command)


def test_what_was_pushed_is_taken_by_its_digest_with_where_it_comes_from(tmp_path: Path) -> None:
    image = LIST["images"][0] | {"wrap": {"mpi": True, "run": ["%post is no section"]}}
    done = run(tmp_path, images=[image])
    assert done.exit_code == 0, done.output
    folder = tmp_path / "my sifs"
    build = f"{BUILD} training-llm-25.10-py3.sif training-llm-25.10-py3.def"
    assert done.stdout == f"(cd '{folder}' && {build})\n"
    assert done.stderr.splitlines() == [
        f"note: {NAME}: the list has changed since it was pushed; the recipe is of what was pushed",
        f"note: {REGISTRY} may want a login: aws ecr get-login-password --region us-east-1 | apptainer registry login "
        f"--username AWS --password-stdin docker://{REGISTRY}",
    ]
    [file] = folder.iterdir()
    header, sections = parsed(file.read_text())
    assert header == {"Bootstrap": "docker", "From": f"{REGISTRY}/dev/training/llm@{PUSHED}"}
    assert sections == {
        "labels": [
            "org.opencontainers.image.base.name nvcr.io/nvidia/pytorch:25.10-py3",
            f"org.opencontainers.image.base.digest {SOURCE}",
            "dev.gpufleet.platform linux/amd64",
            f"dev.gpufleet.inputs {64 * 'c'}",
            f"dev.gpufleet.mirror {REGISTRY}/dev/training/llm@{PUSHED}",
            f"dev.gpufleet.sbom.sha256 {64 * 'd'}",
        ],
        "test": ["command -v mpirun"],
    }


def test_from_the_source_the_same_is_put_on_top(tmp_path: Path) -> None:
    (tmp_path / "lab ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    target = tmp_path / "written"
    word = "a 'b' \"c\" {{ d }} $https_proxy"
    wrap = {
        "proxy": {"https": "http://proxy.lab:3128", "none_for": ["10.0.0.0/8", ".lab"]},
        "certificates": ["lab ca.pem"],
        "mpi": True,
        "jupyter": "4.4.1",
        "run": [f"cat > {target} << END\n{word}\nEND\n%labels >> {target} || true\nbootstrap: || true"],
    }
    done = run(tmp_path, "--from-source", "--json", images=[LIST["images"][0] | {"wrap": wrap}])
    assert done.exit_code == 0, done.output
    [told] = json.loads(done.stdout)
    assert told["image"] == f"nvcr.io/nvidia/pytorch@{SOURCE}"
    assert "apptainer registry login --username '$oauthtoken' docker://nvcr.io" in done.stderr
    folder = tmp_path / "my sifs"
    name = "training-llm-25.10-py3"
    assert sorted(each.name for each in folder.iterdir()) == [f"{name}.{end}" for end in ("1.crt", "def", "sh")]
    header, sections = parsed((folder / f"{name}.def").read_text())
    assert header["From"] == told["image"]
    assert sections["files"] == [
        f"{name}.sh /usr/local/share/gpufleet/wrap.sh",
        f"{name}.1.crt /usr/local/share/ca-certificates/gpufleet/1.crt",
    ]
    assert sections["post"] == ["/bin/sh -e /usr/local/share/gpufleet/wrap.sh"]
    assert "export HTTPS_PROXY=http://proxy.lab:3128" in sections["environment"]
    assert "export no_proxy=10.0.0.0/8,.lab" in sections["environment"]
    assert "export PIP_CERT=/usr/local/share/ca-certificates/gpufleet-all.pem" in sections["environment"]
    assert sections["test"] == [f"command -v {each}" for each in ("mpirun", "jupyter", "jupyterhub-singleuser")]

    script = (folder / f"{name}.sh").read_text()
    assert "jupyterlab==4.4.1 jupyterhub==5.5.0" in script
    subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=True)
    # Of the script what needs no root and no network: variables, and the list's own lines.
    lines = [line for line in script.splitlines() if "apt-get" not in line and "pip install" not in line]
    kept = "\n".join(line for line in lines if "update-ca" not in line)
    subprocess.run(["/bin/sh", "-e"], input=kept, text=True, check=True)
    assert target.read_text() == word.replace("$https_proxy", "http://proxy.lab:3128") + "\n"


def test_nothing_on_top_needs_no_script(tmp_path: Path) -> None:
    assert run(tmp_path, "--from-source").exit_code == 0
    [file] = (tmp_path / "my sifs").iterdir()
    assert set(parsed(file.read_text())[1]) == {"labels"}


def test_a_registry_on_this_machine_is_spoken_to_without_tls(tmp_path: Path) -> None:
    image = {"from": "localhost:5000/nvidia/base", "tags": [f"1@{SOURCE}"]}
    done = run(tmp_path, "--from-source", images=[image], locked=False)
    assert f"&& {BUILD} --no-https base-1.sif base-1.def)" in done.stdout
    assert "apptainer registry login --username USER docker://localhost:5000" in done.stderr


BROKEN: dict[str, tuple[list[str], dict[str, object], str]] = {
    "not synced": (
        [],
        {"locked": False},
        f"{NAME}: is not locked, so its digest is unknown; `gpufleet images sync LIST` pushes it; "
        "--from-source takes the source's own registry",
    ),
    "source without a digest": (
        ["--from-source"],
        {"locked": False},
        f"{NAME}: its digest is not known; pin it in the list as TAG@sha256:..., or sync the list first",
    ),
    "unknown image": (
        ["--only", "nvcr.io/nvidia/cuda"],
        {},
        "LIST: only=nvcr.io/nvidia/cuda: image not found in the list; use one of its `from`",
    ),
    "a certificate that is not there": (
        ["--from-source"],
        {"images": [LIST["images"][0] | {"wrap": {"certificates": ["none.pem"]}}]},
        f"{NAME}: certificates: FOLDER/none.pem: cannot be read: No such file or directory",
    ),
    "two of one name": (
        ["--from-source"],
        {
            "images": [
                {"from": "quay.io/a/x", "tags": [f"1@{SOURCE}"], "to": "a/x"},
                {"from": "quay.io/b/x", "tags": [f"1@{SOURCE}"], "to": "a-x"},
            ]
        },
        "a-x-1.def: two images have this name; give one another `to`",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_one_line_and_nothing_written(case: str, tmp_path: Path) -> None:
    words, changes, expected = BROKEN[case]
    done = run(tmp_path, *words, **changes)  # type: ignore[arg-type]
    assert done.exit_code == 1
    line = done.stderr.replace(str(tmp_path / "images.yaml"), "LIST").replace(str(tmp_path), "FOLDER")
    assert line == f"Error: {expected}\n"
    assert not (tmp_path / "my sifs").exists()


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "my sifs").write_text("a file")
    done = run(tmp_path)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        f"Error: to={tmp_path}/my sifs: training-llm-25.10-py3: cannot be written: File exists"
    )
