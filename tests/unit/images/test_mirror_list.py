"""The list of images: what it says when it is wrong, what is built of it, and its lock file."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gpufleet.catalog.jupyterhub_chart import jupyterhub_chart
from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.images.mirror.checks import validate_image_list
from gpufleet.images.mirror.credentials import Credentials
from gpufleet.images.mirror.derived_image import certificate_files, dockerfile
from gpufleet.images.mirror.error_messages import explain
from gpufleet.images.mirror.image_list import Login, Wrap, items, read_image_list
from gpufleet.images.mirror.lock import LockEntry, lock_file, read_lock, write_lock
from gpufleet.images.mirror.sync import Sync, SyncOutcome

EXAMPLE = Path(__file__).parents[3] / "examples" / "images" / "images.yaml"
IMAGE = {"from": "nvcr.io/nvidia/pytorch", "tags": ["25.10-py3"]}
DIGEST = f"sha256:{64 * 'a'}"


def wanted_of(folder: Path, **words: object) -> Any:
    (folder / "images.yaml").write_text(yaml.safe_dump({"to": "r.example/team", "images": [IMAGE], **words}))
    return read_image_list(folder / "images.yaml")


def test_example_is_a_list_whose_exceptions_hold() -> None:
    wanted = read_image_list(EXAMPLE)
    [item] = items(wanted)
    assert item.name == "123456789012.dkr.ecr.us-east-1.amazonaws.com/dev/training:25.10-py3"
    assert validate_image_list(wanted, date(2026, 12, 1)) == []


def test_tags_digests_and_targets(tmp_path: Path) -> None:
    image = IMAGE | {"tags": ["1", f"2@{DIGEST}"], "to": "sub/torch"}
    found = [(each.name, each.digest) for each in items(wanted_of(tmp_path, images=[image]))]
    assert found == [("r.example/team/sub/torch:1", None), ("r.example/team/sub/torch:2", DIGEST)]


FAULTS = {
    "no registry": (
        {"images": [IMAGE | {"from": "nvidia/cuda"}]},
        "images[0].from=nvidia/cuda: must be HOST/PATH with the registry's host, such as nvcr.io/nvidia/pytorch",
    ),
    "short digest": (
        {"images": [IMAGE | {"tags": ["1@sha256:ab"]}]},
        "images[0].tags[0]=1@sha256:ab: must be TAG or TAG@sha256:..., with a digest of 64 hexadecimal digits",
    ),
    "no tags": (
        {"images": [IMAGE | {"tags": []}]},
        "images[0].tags=[]: Tuple should have at least 1 item after validation, not 0",
    ),
    "unknown key": ({"image": []}, "image: unknown key; see docs/images.md for the known ones"),
    "no target": ({"to": None}, "to=null: Input should be a valid string"),
    "password in a proxy": (
        {"images": [IMAGE | {"wrap": {"proxy": {"http": "http://u:p@proxy:1"}}}]},
        "images[0].wrap.proxy.http=http://...@proxy:1: contains a password, which everybody could read in the image; "
        "use a proxy without one",
    ),
    "twice": (
        {"images": [IMAGE, IMAGE]},
        "images: r.example/team/pytorch:25.10-py3 comes from two entries; give one of them another `to`",
    ),
    "scan of nothing": (
        {"checks": {"scans": [{}]}},
        "checks.scans[0]={}: has neither a command nor a report; give one of them",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_the_list_is_one_line(name: str, tmp_path: Path) -> None:
    words, line = FAULTS[name]
    with pytest.raises(UserError) as raised:
        wanted_of(tmp_path, **words)
    assert str(raised.value) == f"{tmp_path / 'images.yaml'}: {line}"


def test_checks_that_no_longer_hold_are_told(tmp_path: Path) -> None:
    allowed = {"id": "private-key", "reason": "tests", "expires": date(2027, 1, 31)}
    checks = {
        "secrets": {"allow": [allowed, allowed | {"id": "privat-key"}]},
        "organisation": {"sources": ["docker.io/*"], "refused_licences": ["AGPL-*"]},
    }
    wanted = wanted_of(tmp_path, checks=checks)
    lines = validate_image_list(wanted, date(2027, 1, 31))
    assert [line.partition(":")[0] for line in lines] == [
        "checks.secrets.allow[1]",
        "checks.organisation.refused_licences",
        "nvcr.io/nvidia/pytorch",
    ]
    assert lines[-1].endswith("use one of [docker.io/*], or have it added to the list [image-source]")
    late = validate_image_list(wanted, date(2027, 2, 1))
    assert late[0] == (
        "checks.secrets.allow[0]: expires=2027-01-31: private-key is no longer allowed; fix it, or set a new date"
    )


def test_dockerfile_puts_the_proxy_first_and_the_user_last() -> None:
    wrap = Wrap.model_validate({"proxy": {"http": "http://p:1"}, "mpi": True, "jupyter": "4.4.1", "run": ['echo "$A"']})
    lines = dockerfile(wrap, "base", "1000").splitlines()
    assert lines[:4] == ["FROM base", "USER 0", 'ENV http_proxy="http://p:1"', 'ENV HTTP_PROXY="http://p:1"']
    assert lines[-2:] == [r'RUN ["/bin/sh", "-ec", "echo \"$A\""]', "USER 1000"]
    pip = "RUN PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir"
    assert f"{pip} jupyterlab==4.4.1 jupyterhub=={jupyterhub_chart().hub}" in lines
    assert dockerfile(Wrap(mpi=True, user="7"), "base", "1000").endswith("\nUSER 7\n")


def test_certificate_with_its_key_is_refused(tmp_path: Path) -> None:
    text = "-----BEGIN CERTIFICATE-----\n"
    (tmp_path / "ca.pem").write_text(text)
    wrap = Wrap(certificates=("ca.pem",))
    assert certificate_files(wrap, tmp_path) == {"ca.crt": text.encode()}
    (tmp_path / "ca.pem").write_text(text + "-----BEGIN " + "PRIVATE KEY-----\n")
    with pytest.raises(UserError, match="contains a private key; keep only the certificate"):
        certificate_files(wrap, tmp_path)


def test_lock_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = lock_file(tmp_path / "images.yaml")
    assert file.name == "images.lock.json"
    assert read_lock(file) == {}
    images = {
        "b": LockEntry("s:1", DIGEST, "linux/amd64", "i", "1", DIGEST),
        "a": LockEntry("s:2", "d", "p", "i", "1", "q"),
    }
    write_lock(file, images)
    assert read_lock(file) == images
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    file.write_text('{"version": 1, "images": {"a": {}}}')
    with pytest.raises(UserError, match="needs the key source; restore it from version control"):
        read_lock(file)
    file.write_text('{"version": 2, "images": {}}')
    with pytest.raises(UserError, match="version=2: is of another gpufleet"):
        read_lock(file)


SAID = {
    "login": ("look", "unauthorized: authentication required", "refuses the login"),
    "registry's disk": (
        "push",
        "received unexpected HTTP status: 500 Internal Server Error",
        "most often because its disk",
    ),
    "own disk": ("pull", "write blob: no space left on device", "the disk of this machine is full"),
    "broken": ("pull", "happened during read: unexpected EOF", "the transfer broke off"),
    "immutable": ("push", "tag invalid: The image tag 'v1' already exists", "unique_tags: true"),
    "unknown words": ("pull", "the moon is full", "registry/x: the moon is full"),
}


@pytest.mark.parametrize("name", SAID)
def test_failures_are_explained_in_one_line(name: str) -> None:
    during, said, words = SAID[name]
    line = explain(f'time="t" level=fatal msg="{said}"\n', during, "registry/x", "log in")
    assert words in line
    assert "\n" not in line
    assert said in line, "the program's own words"


def test_login_of_the_list_needs_its_variable() -> None:
    login = Login(registry="nvcr.io", user="$oauthtoken", password_env="KEY")
    with pytest.raises(UserError, match=r"logins: nvcr\.io: the variable KEY is not set"):
        Credentials([login], {}).check()
    with Credentials([login], {"KEY": "k"}).file("nvcr.io") as file:
        assert file is not None
        assert file.stat().st_mode & 0o777 == 0o600
        assert "JG9hdXRodG9rZW46aw==" in file.read_text()


@pytest.mark.parametrize("trusts", [True, False])
def test_a_list_of_somebody_else_sends_no_password_of_ours_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusts: bool
) -> None:
    """Its `logins` could name any registry and any variable: with --logins those of our own list count."""
    ours, theirs = tmp_path / "ours.yaml", tmp_path / "theirs.yaml"
    for file, registry in ((ours, "nvcr.io"), (theirs, "evil.example")):
        login = {"registry": registry, "user": "x", "password_env": "OUR_KEY"}
        file.write_text(yaml.safe_dump({"to": "r.example/team", "images": [IMAGE], "logins": [login]}))
    sent: list[str] = []

    def run(self: Sync, only: Sequence[str]) -> list[SyncOutcome]:
        for host in ("nvcr.io", "evil.example"):
            with self.skopeo.credentials.file(host) as file:
                sent.extend([host] if file else [])
        return []

    monkeypatch.setattr(Sync, "run", run)
    monkeypatch.setattr("gpufleet.images.mirror.sync.find_skopeo", lambda: "skopeo")
    monkeypatch.setenv("OUR_KEY", "k")
    words = ["images", "sync", str(theirs), "--dry-run", *(["--logins", str(ours)] if trusts else [])]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, sent) == (0, ["nvcr.io"] if trusts else ["evil.example"]), done.output
