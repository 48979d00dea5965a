"""`gpufleet images sync` between two real registries, with the real skopeo and buildah.

One registry plays NGC: its user is $oauthtoken, its password an API key. Played are also the scanner, a script that
does look into the layers, and the image's update-ca-certificates. No image is run.
"""

import gzip
import io
import json
import os
import random
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.command_line import SECONDS
from tests.cluster.cutting_proxy import cutting_proxy
from tests.cluster.mirror_side import CACHE, SCANNER, Mirror, path_of, requests
from tests.cluster.registry_program import RegistryProgram, registry_program

KEY = "key-of-no-value"
DOCKERFILE = """\
FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
COPY update-ca-certificates /bin/
COPY noise{} /data/
ENV FAMILY=base
"""
UPDATE_CERTIFICATES = """\
#!/bin/sh
mkdir -p /etc/ssl/certs
cat /usr/local/share/ca-certificates/gpufleet/*.crt > /etc/ssl/certs/ca-certificates.crt
"""


@pytest.fixture(scope="module")
def ngc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProgram]:
    with registry_program(tmp_path_factory.mktemp("ngc"), user="$oauthtoken", password=KEY) as made:
        yield made


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProgram]:
    with registry_program(tmp_path_factory.mktemp("own")) as made:
        yield made


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where buildah keeps layers, away from the user's, and how it isolates."""
    folder = tmp_path_factory.mktemp("storage")
    file = folder / "storage.conf"
    file.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/root"\nrunroot = "{folder}/run"\n')
    return {"CONTAINERS_STORAGE_CONF": str(file), "BUILDAH_ISOLATION": "chroot"}


Publish = Callable[..., None]


@pytest.fixture(scope="module")
def publish(ngc: RegistryProgram, variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Publish:
    """NVIDIA's side: an image under a tag, in Docker's own format, as most images are."""
    folder = tmp_path_factory.mktemp("nvidia")
    shutil.copy(shutil.which("busybox") or "busybox", folder / "busybox")
    (folder / "update-ca-certificates").write_text(UPDATE_CERTIFICATES)
    (folder / "update-ca-certificates").chmod(0o755)
    environment = os.environ | variables | {"REGISTRY_AUTH_FILE": str(ngc.login)}

    def publish(tag: str, release: int = 1, **files: str) -> None:
        """release: decides a layer of 2 MB. files: content of other files by name, in a layer of their own."""
        (folder / f"noise{release}").write_bytes(random.Random(release).randbytes(2_000_000))
        for name, content in files.items():
            (folder / name).write_text(content)
        text = DOCKERFILE.format(release) + "".join(f"COPY {name} /data/\n" for name in files)
        (folder / "Dockerfile").write_text(text)
        name = f"{ngc.host}/nvidia/base:{tag}"
        build = ["buildah", "build", "--quiet", "--layers", "--format", "docker", "--tag", name, str(folder)]
        for command in (build, ["buildah", "push", "--quiet", "--tls-verify=false", name]):
            subprocess.run(command, check=True, capture_output=True, env=environment, timeout=SECONDS)

    return publish


@pytest.fixture
def mirror(
    ngc: RegistryProgram, own: RegistryProgram, variables: dict[str, str], tmp_path: Path, request: Any
) -> Mirror:
    environment = variables | {"REGISTRY_AUTH_FILE": str(own.login), "NGC_API_KEY": KEY}
    return Mirror(tmp_path, ngc.host, f"{own.host}/{request.node.name.replace('_', '-')[:60]}", environment)


def test_first_run_copies_and_wraps_and_second_copies_nothing(
    ngc: RegistryProgram, own: RegistryProgram, mirror: Mirror, publish: Publish
) -> None:
    publish("1")
    certificate = ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=lab", "-days", "2"]
    subprocess.run([*certificate, "-keyout", os.devnull, "-out", mirror.folder / "lab.pem"], check=True)
    proxy = {"https": "http://proxy.lab.example:3128", "none_for": ["10.0.0.0/8", ".lab.example"]}
    mirror.wrap(proxy=proxy, certificates=["lab.pem"], run=['echo "$FAMILY of $https_proxy" > /word'], user="1000")
    [told] = mirror.synced()

    base, source_digest, _ = ngc.manifest("nvidia/base", "1")
    manifest, digest, _ = own.manifest(path_of(mirror), "1")
    assert told["did"] == "pushed"
    assert told["image"] == f"{mirror.list['to']}/base@{digest}"
    assert [each["digest"] for each in manifest["layers"][:-1]] == [each["digest"] for each in base["layers"]]
    annotations = manifest["annotations"]
    assert annotations["org.opencontainers.image.base.name"] == f"{ngc.host}/nvidia/base:1"
    assert annotations["org.opencontainers.image.base.digest"] == source_digest
    body, _ = own.get(f"{path_of(mirror)}/blobs/{manifest['config']['digest']}")
    assert str(mirror.folder).encode() not in body, "no path of the machine that copied"
    run = json.loads(body)["config"]
    assert run["User"] == "1000"
    assert {"FAMILY=base", "HTTPS_PROXY=http://proxy.lab.example:3128", "no_proxy=10.0.0.0/8,.lab.example"} <= set(
        run["Env"]
    )
    layer = gzip.decompress(own.get(f"{path_of(mirror)}/blobs/{manifest['layers'][-1]['digest']}")[0])
    with tarfile.open(fileobj=io.BytesIO(layer)) as files:
        read = {name: stream.read() for name in files.getnames() if (stream := _file(files, name))}
    assert read["word"] == b"base of http://proxy.lab.example:3128\n"
    assert read["etc/ssl/certs/ca-certificates.crt"] == (mirror.folder / "lab.pem").read_bytes()

    lock = (mirror.folder / "images.lock.json").read_bytes()
    assert json.loads(lock)["images"][told["name"]]["digest"] == source_digest
    blobs, sent = requests(ngc, "GET", "/blobs/"), requests(own, "PUT", "/blobs/")
    [again] = mirror.synced()
    assert (again["did"], again["image"]) == ("unchanged", told["image"])
    assert (requests(ngc, "GET", "/blobs/"), requests(own, "PUT", "/blobs/")) == (blobs, sent)
    assert (mirror.folder / "images.lock.json").read_bytes() == lock

    # Another machine, without the cache, has the lock file only.
    shutil.rmtree(mirror.folder / CACHE)
    assert mirror.synced()[0]["did"] == "unchanged"
    assert requests(ngc, "GET", "/blobs/") == blobs

    # What is put on top changes: the base's layers are neither fetched nor sent.
    mirror.wrap(run=["echo other > /word"])
    assert mirror.synced("--dry-run")[0]["did"] == "would-push"
    assert mirror.synced()[0]["because"] == "what is put on top, or a check, has changed"
    assert requests(own, "PUT", "/blobs/") - sent == 2, "the new layer and the configuration"


def _file(files: tarfile.TarFile, name: str) -> Any:
    member = files.getmember(name)
    return files.extractfile(member) if member.isfile() else None


def test_moved_tag_is_noticed_and_taken_only_when_asked_for(
    ngc: RegistryProgram, own: RegistryProgram, mirror: Mirror, publish: Publish
) -> None:
    publish("1")
    first = mirror.synced()[0]
    old = ngc.manifest("nvidia/base", "1")[1]
    publish("1", release=2)
    new = ngc.manifest("nvidia/base", "1")[1]
    [told] = mirror.synced()
    assert (told["did"], told["moved"], told["image"]) == ("unchanged", new, first["image"])
    assert told["notes"] == [
        f"{ngc.host}/nvidia/base:1: the tag has moved from {old[:19]} to {new[:19]}; --update takes it"
    ]
    sent = requests(own, "PUT", "/blobs/")
    [planned] = mirror.synced("--update", "--dry-run")
    assert (planned["did"], planned["because"]) == ("would-push", f"the source is {new[:19]} now")
    assert 0 < planned["missing"] < sum(each["size"] for each in ngc.manifest("nvidia/base", "1")[0]["layers"])
    [taken] = mirror.synced("--update")
    assert taken["did"] == "pushed"
    assert requests(own, "PUT", "/blobs/") - sent == 2, "the layer that is new, and the configuration"
    assert mirror.lock[taken["name"]]["digest"] == new
    assert own.manifest(path_of(mirror), "1")[0]["annotations"]["org.opencontainers.image.base.digest"] == new

    mirror.list["images"][0]["tags"] = [f"1@{old}"]
    assert mirror.synced()[0]["did"] == "pushed", "pinned by hand"
    assert mirror.lock[taken["name"]]["digest"] == old


def test_broken_transfer_goes_on_where_it_was(ngc: RegistryProgram, mirror: Mirror, publish: Publish) -> None:
    publish("1", release=3)
    layers = ngc.manifest("nvidia/base", "1")[0]["layers"]
    largest = max(layers, key=lambda each: each["size"])["digest"]
    with cutting_proxy(ngc.host) as line:
        mirror.list["logins"][0]["registry"] = line.host
        mirror.list["images"][0]["from"] = f"{line.host}/nvidia/base"
        line.cut, line.others = largest, len(layers)  # all other layers, and the configuration
        broken = mirror.sync()
        assert broken.returncode == 1
        [error] = [text for text in broken.stderr.splitlines() if text.startswith("Error: ")]
        assert "the transfer broke off" in error
        assert error.endswith("run this again; layers that have arrived are not fetched or sent again")
        assert mirror.lock == {}
        arrived = {each["digest"] for each in layers} & set(line.passed)
        assert arrived == {each["digest"] for each in layers} - {largest}

        line.cut = ""
        line.passed.clear()
        assert mirror.synced()[0]["did"] == "pushed"
        assert {each["digest"] for each in layers} & set(line.passed) == {largest}


def test_failing_scan_blocks_the_push_until_it_is_allowed(
    own: RegistryProgram, mirror: Mirror, publish: Publish
) -> None:
    publish("1", **{"vulnerable-9.8": "", "vulnerable-5.0": ""})
    (mirror.folder / "scanner").write_text(SCANNER)
    (mirror.folder / "scanner").chmod(0o755)
    scan = {"command": ["./scanner", "{layout}", "{report}"], "refuse_from": "high"}
    mirror.list["checks"] = {"scans": [scan]}
    done = mirror.sync()
    name = f"{mirror.list['to']}/base:1"
    assert (done.returncode, done.stdout) == (1, f"{name}: failed\n")
    assert done.stderr.splitlines()[-1] == (
        f"Error: {name}: scan=report-0.json: 1 from high on: CVE-0 (critical); "
        "take a newer image, or allow each with reason and expiry under checks.scans[0].allow [image-scan]"
    )
    assert own.tags(path_of(mirror)) == []
    assert mirror.lock == {}
    scan["allow"] = [{"id": "CVE-0", "reason": "not reachable", "expires": "2999-01-01"}]
    assert mirror.synced()[0]["did"] == "pushed"
    [written] = mirror.lock[name]["scans"]
    assert (written["found"], written["allowed"]) == ({"medium": 1, "critical": 1}, ["CVE-0"])


def test_secret_in_a_layer_and_the_organisations_rules_block_the_push(
    own: RegistryProgram, mirror: Mirror, publish: Publish
) -> None:
    publish("1", credentials="aws_secret_access_key = " + "x" * 40 + "\n")
    mirror.wrap(run=["rm /data/credentials"])
    mirror.list["checks"] = {"organisation": {"user": "non-root", "commands": [["sh", "-c", "echo no; exit 3"]]}}
    done = mirror.sync()
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert [line.rpartition(" ")[2] for line in errors] == ["[image-secret]", "[image-user]", "[image-command]"]
    assert "aws-secret-key=data/credentials: anyone who pulls the image can read it (layer " in errors[0]
    assert "xxxx" not in done.stderr
    assert own.tags(path_of(mirror)) == []
    allowed = {"id": "aws-secret-key", "path": "data/*", "reason": "of no value", "expires": "2999-01-01"}
    mirror.list["checks"] = {"secrets": {"allow": [allowed]}}
    again = mirror.sync()
    assert again.returncode == 0, again.stderr
    assert "wrapping" in done.stderr
    assert "wrapping" not in again.stderr, "what was built before it was refused is not built again"


def test_wrong_ngc_key_is_one_line(ngc: RegistryProgram, mirror: Mirror, publish: Publish) -> None:
    publish("1")
    wrong = mirror.sync(NGC_API_KEY="another")
    assert wrong.returncode == 1
    assert wrong.stderr == (
        f"Error: {mirror.list['to']}/base:1: {ngc.host}/nvidia/base:1: refuses the login (reading manifest 1 in "
        f"{ngc.host}/nvidia/base: unauthorized: authentication required); is $NGC_API_KEY a valid NGC API key of an "
        "account that may see it? The user is $oauthtoken\n"
    )
    missing = mirror.sync(NGC_API_KEY="")
    assert missing.stderr == (
        f"Error: logins: {ngc.host}: the variable NGC_API_KEY is not set; set it to the password or API key\n"
    )


def test_full_disk_of_the_registry_is_one_line_and_the_next_run_goes_on(
    variables: dict[str, str], mirror: Mirror, publish: Publish, tmp_path: Path
) -> None:
    publish("1", release=4)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    try:
        (tmp_path / "small").mkdir()
        with registry_program(tmp_path / "small", storage=disk) as small:
            mirror.list["to"] = f"{small.host}/team"
            mirror.environment["REGISTRY_AUTH_FILE"] = str(small.login)
            done = mirror.sync()
            errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
            assert (done.returncode, len(errors)) == (1, 1), done.stderr
            assert (
                f"{small.host}/team/base:1: the registry cannot store it, most often because its disk is full ("
                in (errors[0])
            )
            assert mirror.lock == {}
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            assert mirror.synced()[0]["did"] == "pushed"
            assert small.tags("team/base") == ["1"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)
