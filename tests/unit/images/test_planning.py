"""Where an image goes, for which platform, under which tag, and how the builder is called."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet.images import platforms
from gpufleet.images.builder import Build, build_command, digest_in, find_builder, push_command, run
from gpufleet.images.repository import Repository, select_repository, validate_tag
from gpufleet.images.tag import default_tag
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.settings import read_settings

NOW = datetime(2026, 11, 21, 17, 5, 9, tzinfo=UTC)
TWO = {"dev/training": "r.invalid/dev/training", "dev/tools": "r.invalid/dev/tools"}


def pools(**types: str) -> list[PoolInfo]:
    told = {name: {"types": [kind]} for name, kind in types.items()}
    return list(read_settings({"kubeconfig": "k", "jobs": {"pools": told}}, "dev").pools.values())


def git(folder: Path, *words: str) -> str:
    author = ["-c", "user.name=n", "-c", "user.email=e@invalid"]
    command = ["git", "-C", str(folder), *author, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_tag_says_when_and_from_which_commit_and_whether_files_differ(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "image"
    inner.mkdir(parents=True)
    assert default_tag(inner, NOW) == "20261121-170509", "outside of git"
    git(tmp_path / "repo", "init", "-q")
    assert default_tag(inner, NOW) == "20261121-170509", "before the first commit"
    (inner / "Dockerfile").write_text("FROM scratch\n")
    git(tmp_path / "repo", "add", "-A")
    git(tmp_path / "repo", "commit", "-qm", "first")
    commit = git(tmp_path / "repo", "rev-parse", "--short=12", "HEAD")
    assert default_tag(inner, NOW) == f"20261121-170509-g{commit}"
    (tmp_path / "repo" / "elsewhere").touch()
    assert default_tag(inner, NOW) == f"20261121-170509-g{commit}", "only the directory counts"
    (inner / "new.py").touch()
    assert default_tag(inner, NOW) == f"20261121-170509-g{commit}-dirty"
    assert validate_tag(default_tag(inner, NOW))


@pytest.mark.parametrize("tag", ["", ".a", "-a", "a/b", "a:b", "ä", "a" * 129, "a\n"])
def test_tag_that_no_registry_takes_is_refused(tag: str) -> None:
    with pytest.raises(UserError, match="is not a valid tag; use up to 128 letters"):
        validate_tag(tag)


def test_repository_is_the_only_one_or_the_named_one() -> None:
    one = {"dev/training": "r.invalid/dev/training"}
    assert select_repository(one, None, "dev") == Repository("dev/training", "r.invalid/dev/training")
    assert (
        select_repository(TWO, "dev/tools", "dev")
        == select_repository(TWO, "tools", "dev")
        == Repository("dev/tools", TWO["dev/tools"])
    )
    for repositories, wanted, line in (
        (TWO, None, "dev: which repository? use --repository dev/training or dev/tools"),
        (TWO, "ools", "dev: repository=ools: repository not found; use dev/training or dev/tools"),
        ({"a/x": "1", "b/x": "2"}, "x", "dev: repository=x: repository not found; use a/x or b/x"),
        ({}, None, "dev: the stack's outputs tell of no repository (registry_urls); name one in gpufleet:registry"),
    ):
        with pytest.raises(UserError) as error:
            select_repository(repositories, wanted, "dev")
        assert str(error.value).startswith(line)


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("127.0.0.1:5000/a", True),
        ("127.8.9.1/a", True),
        ("localhost:5000/a", True),
        ("[::1]:5000/a", True),
        ("localhost.example.com/a", False),
        ("10.0.0.1:5000/a", False),
        ("123456789012.dkr.ecr.us-east-1.amazonaws.com/a", False),
        ("127.0.0.1.example.com/a", False),
    ],
)
def test_only_a_registry_on_loopback_is_on_this_machine(url: str, here: bool) -> None:
    assert Repository("a", url).on_this_machine is here


def test_platform_is_that_of_the_nodes() -> None:
    amd, arm = pools(a="g5.8xlarge"), pools(b="g5g.16xlarge")
    assert platforms.platform_for(amd, None, "dev") == "linux/amd64"
    assert platforms.platform_for(arm, None, "dev") == "linux/arm64"
    assert platforms.platform_for([*amd, *arm], "linux/arm64", "dev") == "linux/arm64"
    assert platforms.platform_for(pools(x="of.nobody"), None, "dev") is None, "the catalog does not know it"
    assert platforms.platform_for(pools(x="of.nobody"), "linux/riscv64", "dev") == "linux/riscv64"
    for given, wanted, line in (
        (
            [*amd, *arm],
            None,
            "dev: which platform? use --platform linux/amd64 or linux/arm64 (a: linux/amd64; b: linux/arm64)",
        ),
        (
            amd,
            "linux/arm64",
            "dev: platform=linux/arm64: the nodes of its pools (a) are linux/amd64, so that no program of the image "
            "would start there; use linux/amd64",
        ),
    ):
        with pytest.raises(UserError) as error:
            platforms.platform_for(given, wanted, "dev")
        assert str(error.value) == line


def test_building_for_another_platform_is_said_to_be_slow() -> None:
    assert platforms.advice("linux/amd64", "x86_64") == platforms.advice("linux/arm64", "aarch64") == []
    assert platforms.advice(None, "x86_64") == platforms.advice("linux/amd64", "mips") == []
    [line] = platforms.advice("linux/amd64", "arm64")
    assert line.startswith("platform=linux/amd64: this machine is linux/arm64, so that RUN lines are emulated, slowly")


def test_builder_is_called_with_what_was_asked_and_without_a_secret() -> None:
    image, login = "r.invalid/t:1", Path("/tmp/x/auth.json")
    build = Build(image, Path("ctx"), Path("/ctx/Dockerfile"), "linux/amd64", {"A": "1", "B": "x y"})
    assert build_command("/usr/bin/buildah", build, login) == [
        *("/usr/bin/buildah", "build", "--layers", "--file", "/ctx/Dockerfile", "--tag", image),
        *("--platform", "linux/amd64", "--build-arg", "A=1", "--build-arg", "B=x y"),
        *("--authfile", "/tmp/x/auth.json", "ctx"),
    ]
    plain = Build(image, Path("ctx"), Path("f"))
    assert build_command("podman", plain, None) == ["podman", "build", "--layers", "--file", "f", "--tag", image, "ctx"]
    assert push_command("podman", image, Path("d"), None, plain_http=True) == [
        *("podman", "push", "--digestfile", "d", "--tls-verify=false", image, f"docker://{image}"),
    ]
    assert push_command("podman", image, Path("d"), login, plain_http=False) == [
        *("podman", "push", "--digestfile", "d", "--authfile", str(login), image, f"docker://{image}"),
    ]


def test_builder_is_found_on_path_buildah_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        UserError, match="neither buildah nor podman is on PATH; install one: `apt-get install buildah`"
    ):
        find_builder()
    for name in ("podman", "buildah"):
        (tmp_path / name).touch(mode=0o755)
        assert find_builder() == str(tmp_path / name)


def test_builder_that_cannot_be_started_or_is_killed_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no/such: cannot be started: No such file or directory"):
        run([str(tmp_path / "no/such")], "nothing is pushed")
    with pytest.raises(UserError) as error:
        run(["sh", "-c", "kill -TERM $$"], "nothing is pushed")
    assert (str(error.value), error.value.code) == ("nothing is pushed: sh -c failed (signal 15), see above", 143)


def test_digest_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the builder wrote no digest"):
        digest_in(tmp_path / "digest")
    (tmp_path / "digest").write_text("sha256:abc")
    with pytest.raises(UserError, match=r"the builder wrote 'sha256:abc' where sha256:\.\.\. was due"):
        digest_in(tmp_path / "digest")
    (tmp_path / "digest").write_text(f"sha256:{64 * 'a'}\n")
    assert digest_in(tmp_path / "digest") == f"sha256:{64 * 'a'}"
