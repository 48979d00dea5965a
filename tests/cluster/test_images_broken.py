"""What is broken when images are copied: one line each, no traceback, and the other images go on.

Real are the registries and skopeo. Played are the scanners and the writer of bills of materials: scripts that write
what such programs write; unit tests read reports of real ones.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.command_line import GPUFLEET, said_to_the_end, said_until
from tests.cluster.cutting_proxy import cutting_proxy
from tests.cluster.mirror_side import CACHE, Mirror, path_of, requests
from tests.cluster.registry_program import RegistryProgram, registry_program
from tests.cluster.tiny_image import push_tiny

KEY = "key-of-no-value"
NO_DIGEST = f"sha256:{64 * 'a'}"


@pytest.fixture(scope="module")
def ngc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProgram]:
    with registry_program(tmp_path_factory.mktemp("ngc"), user="$oauthtoken", password=KEY) as made:
        push_tiny(made, tmp_path_factory.mktemp("tiny"), "nvidia/base:1", {"bin/sh": b"sh"}, noise=3_000_000)
        yield made


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProgram]:
    with registry_program(tmp_path_factory.mktemp("own")) as made:
        yield made


@pytest.fixture
def mirror(ngc: RegistryProgram, own: RegistryProgram, tmp_path: Path, request: Any) -> Mirror:
    target = f"{own.host}/{request.node.name.split('[')[0].replace('_', '-')[:60]}"
    return Mirror(tmp_path, ngc.host, target, {"REGISTRY_AUTH_FILE": str(own.login), "NGC_API_KEY": KEY})


def only_error(done: "subprocess.CompletedProcess[str]") -> str:
    """The one line that says what is wrong."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    return line


SOURCES: dict[str, tuple[dict[str, Any], str]] = {
    "no such tag": (
        {"tags": ["2"]},
        "NGC/nvidia/base:2: image not found; check the name and the tag in the list",
    ),
    "no such digest": (
        {"tags": [f"1@{NO_DIGEST}"]},
        f"NGC/nvidia/base@{NO_DIGEST}: image not found; check the name and the digest in the list",
    ),
    "no such repository": (
        {"from": "NGC/nvidia/cuda"},
        "NGC/nvidia/cuda:1: image not found; check the name and the tag in the list",
    ),
    "a host that nobody knows": (
        {"from": "registry.invalid/nvidia/base"},
        "look at the name in the list, and at this machine's DNS",
    ),
    "nobody listens": ({"from": "127.0.0.1:1/nvidia/base"}, "is it up, and this machine allowed to reach it?"),
    "another platform": (
        {"platform": "linux/arm64"},
        "NGC/nvidia/base:1: platform=linux/arm64: the image is for linux/amd64; say so in the list",
    ),
}


@pytest.mark.parametrize("case", SOURCES)
def test_a_source_that_is_not_there_leaves_the_others_alone(case: str, ngc: RegistryProgram, mirror: Mirror) -> None:
    changes, words = SOURCES[case]
    wrong = {key: value.replace("NGC", ngc.host) if isinstance(value, str) else value for key, value in changes.items()}
    mirror.list["images"] = [mirror.image | {"to": "wrong"} | wrong, mirror.image]
    mirror.list["to"] += "/" + case.replace(" ", "-")
    line = only_error(mirror.sync("--dry-run"))
    assert line.endswith(words.replace("NGC", ngc.host)), line
    done = mirror.sync("--json")
    assert only_error(done) == line
    assert [each["did"] for each in json.loads(done.stdout)] == ["failed", "pushed"]
    assert list(mirror.lock) == [f"{mirror.list['to']}/base:1"]


def test_no_layer_is_fetched_for_a_platform_that_the_image_is_not_for(ngc: RegistryProgram, mirror: Mirror) -> None:
    layers = [each["digest"] for each in ngc.manifest("nvidia/base", "1")[0]["layers"]]
    fetched = [requests(ngc, "GET", each) for each in layers]
    mirror.list["images"][0]["platform"] = "linux/arm64"
    only_error(mirror.sync())
    assert [requests(ngc, "GET", each) for each in layers] == fetched
    mirror.list["images"][0]["platform"] = "linux/amd64"
    mirror.synced()
    assert [requests(ngc, "GET", each) for each in layers] == [each + 1 for each in fetched]


def test_a_damaged_layer_is_not_taken_for_a_broken_line(
    ngc: RegistryProgram, mirror: Mirror, tmp_path_factory: pytest.TempPathFactory
) -> None:
    push_tiny(ngc, tmp_path_factory.mktemp("tiny"), "nvidia/base:damaged", noise=2_000_001)
    [layer] = ngc.manifest("nvidia/base", "damaged")[0]["layers"]
    [file] = ngc.log.parent.rglob(f"{layer['digest'].partition(':')[2]}/data")
    content = file.read_bytes()
    mirror.list["images"][0]["tags"] = ["damaged"]
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    line = only_error(mirror.sync())
    assert ": a layer is not what its digest says (" in line
    assert line.endswith("the registry holds a damaged image, or somebody changes what passes")
    file.write_bytes(content)
    assert mirror.synced()[0]["did"] == "pushed"


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_cache_is_one_line_and_the_next_run_goes_on(mirror: Mirror) -> None:
    with small_disk(mirror.folder / CACHE, "1m") as disk:
        line = only_error(mirror.sync())
        assert ": the disk of this machine is full (" in line
        assert line.endswith("free room in the cache, or name another with --cache; what has arrived stays")
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert mirror.synced()[0]["did"] == "pushed"


LISTS: dict[str, tuple[str | None, str]] = {
    "no file": (None, "LIST: No such file or directory; give a list of images, see docs/images.md"),
    "no YAML": ("to: [a", "LIST: line 1: is not YAML: "),
    "no list": ("- a", "LIST: must be a mapping with the keys `to` and `images`, see docs/images.md"),
}


@pytest.mark.parametrize("case", LISTS)
def test_a_list_that_is_none(case: str, tmp_path: Path) -> None:
    text, words = LISTS[case]
    if text is not None:
        (tmp_path / "images.yaml").write_text(text)
    command = [GPUFLEET, "images", "sync", str(tmp_path / "images.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert only_error(done).replace(str(tmp_path / "images.yaml"), "LIST").startswith(f"Error: {words}")
    assert len(done.stderr.splitlines()) == 1


def test_programs_that_are_not_installed(mirror: Mirror) -> None:
    assert only_error(mirror.sync(PATH="/nonexistent")).startswith("Error: images: skopeo is not on PATH; install it: ")
    (mirror.folder / "bin").mkdir()
    (mirror.folder / "bin" / "skopeo").symlink_to("/usr/bin/skopeo")
    mirror.wrap(run=["true"])
    line = only_error(mirror.sync(PATH=str(mirror.folder / "bin")))
    assert line.startswith("Error: images: neither buildah nor podman is on PATH; install one: ")


def test_ctrl_c_in_the_middle_of_a_layer_and_again(ngc: RegistryProgram, mirror: Mirror) -> None:
    layers = ngc.manifest("nvidia/base", "1")[0]["layers"]
    with cutting_proxy(ngc.host) as line:
        mirror.list["logins"][0]["registry"] = line.host
        mirror.list["images"][0]["from"] = f"{line.host}/nvidia/base"
        # A blob that waits for more than there are: the copy stands still there.
        line.cut, line.others = max(layers, key=lambda each: int(each["size"]))["digest"], 99
        (mirror.folder / "images.yaml").write_text(yaml.safe_dump(mirror.list))
        process = subprocess.Popen(
            [GPUFLEET, "images", "sync", "images.yaml", "--cache", "cache"],
            cwd=mirror.folder,
            env=os.environ | mirror.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        said_until(process, "  layer ")
        os.killpg(process.pid, signal.SIGINT)
        said, code = said_to_the_end(process)
        assert code == 130
        assert [each for each in said if not each.startswith("  layer ")] == [
            "Error: interrupted; layers that have arrived stay, run it again"
        ]
        line.cut = ""
        assert mirror.lock == {}
        assert mirror.synced()[0]["did"] == "pushed"


BILL = """\
import json, sys
licences = [{"license": {"id": "AGPL-3.0-only"}}, {"expression": "MIT OR Apache-2.0"}]
component = {"type": "library", "name": "ghost", "version": "1.2", "licenses": licences}
bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [component]}
json.dump(bill, open(sys.argv[1], "w"))
"""


def test_a_refused_licence_a_refused_source_and_root(
    own: RegistryProgram, ngc: RegistryProgram, mirror: Mirror
) -> None:
    (mirror.folder / "bill.py").write_text(BILL)
    rules = {"sources": ["nvcr.io/*"], "refused_licences": ["AGPL-*"], "user": "non-root"}
    mirror.list["checks"] = {"sbom": {"command": ["python3", "bill.py", "{report}"]}, "organisation": rules}
    assert only_error(mirror.sync()).endswith(
        f"from={ngc.host}/nvidia/base: is not an allowed base image; use one of [nvcr.io/*], or have it added to the "
        "list [image-source]"
    )
    rules["sources"] = [f"{ngc.host}/*"]
    done = mirror.sync()
    name = f"{mirror.list['to']}/base:1"
    assert [line for line in done.stderr.splitlines() if line.startswith("Error: ")] == [
        f"Error: {name}: user=root: its programs run as root; set another user with wrap.user [image-user]",
        f"Error: {name}: licence=AGPL-3.0-only: ghost 1.2 has this licence; leave the package out, or have the rule "
        "changed [image-licence]",
    ]
    assert (done.returncode, own.tags(path_of(mirror))) == (1, [])
    mirror.list["checks"]["organisation"] = {"refused_licences": ["GPL-*"]}
    [told] = mirror.synced()
    locked = mirror.lock[name]["sbom"]
    assert locked["file"] == "images.sbom/base-1.cdx.json"
    notes = own.manifest(path_of(mirror), "1")[0]["annotations"]
    assert (told["did"], notes["dev.gpufleet.sbom.sha256"]) == ("pushed", locked["sha256"])


def test_a_scan_in_cyclonedx_blocks_and_its_gate_is_the_lists(own: RegistryProgram, mirror: Mirror) -> None:
    found = [{"id": "CVE-2", "ratings": [{"severity": "medium"}]}]
    report = {"bomFormat": "CycloneDX", "specVersion": "1.6", "vulnerabilities": found}
    (mirror.folder / "report.json").write_text(json.dumps(report))
    scan = {"command": ["cp", "report.json", "{report}"], "refuse_from": "medium"}
    mirror.list["checks"] = {"scans": [scan]}
    assert "1 from medium on: CVE-2 (medium); take a newer image, or allow each" in only_error(mirror.sync())
    assert own.tags(path_of(mirror)) == []
    scan["refuse_from"] = "high"
    assert mirror.synced()[0]["did"] == "pushed"
    scan["command"] = ["/nonexistent/scanner", "{report}"]
    assert "/nonexistent/scanner: cannot be started: No such file or directory" in only_error(mirror.sync())
