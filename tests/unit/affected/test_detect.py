"""Which environments a change touches."""

import subprocess
from pathlib import Path

import pytest

from gpufleet.affected.detect import affected_stacks
from gpufleet.affected.git import GitError, changed_files, default_base, merge_base, write_tree

ALL = ["aws-dev", "aws-prod", "azure-dev"]


@pytest.mark.parametrize(
    ("files", "environments"),
    [
        ([], []),
        (["stacks/config/Pulumi.aws-prod.yaml"], ["aws-prod"]),
        (["stacks/config/rehearsal.aws-dev.yaml"], ["aws-dev"]),
        (["policies/config/azure-dev/cost.json"], ["azure-dev"]),
        (["stacks/config/Pulumi.aws-prod.yaml", "policies/config/aws-dev/zones.json"], ["aws-dev", "aws-prod"]),
        (["stacks/on_aws.py"], ALL),
        (["components/gpufleet/aws/network.py"], ALL),
        (["policies/cost/__main__.py"], ALL),
        (["requirements.lock"], ALL),
        (["Pulumi.yaml"], ALL),
        (["../lambda/handler.py"], ALL),
        (["docs/ci.md", "README.md", "stacks/README.md", "tests/unit/test_cli.py", ".github/workflows/x.yml"], []),
        # An environment's file at another place is no configuration: what it is nobody knows.
        (["other/Pulumi.aws-prod.yaml"], ALL),
        (["policies/config/no-such/cost.json"], []),
    ],
)
def test_touched(files: list[str], environments: list[str]) -> None:
    found = affected_stacks(files, "stacks/config", ALL)
    assert (found.environments, found.gone) == (environments, [])


def test_configurations_beside_the_project_file() -> None:
    assert affected_stacks(["Pulumi.aws-dev.yaml"], "", ALL).environments == ["aws-dev"]
    assert affected_stacks(["Pulumi.yaml"], "", ALL).environments == ALL


def test_a_configuration_that_is_taken_away() -> None:
    found = affected_stacks(
        ["stacks/config/Pulumi.old.yaml", "stacks/config/Pulumi.aws-dev.yaml"], "stacks/config", ALL
    )
    assert (found.environments, found.gone) == (["aws-dev"], ["old"])
    assert found.why == {"aws-dev": "stacks/config/Pulumi.aws-dev.yaml"}


def git(folder: Path, *words: str) -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@invalid", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *name, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in a folder of a repository, on a branch whose base went on."""
    folder = tmp_path / "infra"
    folder.mkdir()
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("Pulumi.yaml", "Pulumi.a.yaml", "Pulumi.b.yaml", "gone.py"):
        (folder / name).write_text(name)
    (tmp_path / "shared.py").write_text("1")
    (tmp_path / ".gitignore").write_text("ignored\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    git(tmp_path, "switch", "-q", "-c", "change")
    (folder / "Pulumi.a.yaml").write_text("changed")
    (folder / "gone.py").unlink()
    git(tmp_path, "commit", "-q", "-a", "-m", "two")
    git(tmp_path, "switch", "-q", "main")
    (folder / "Pulumi.b.yaml").write_text("changed on main")
    git(tmp_path, "commit", "-q", "-a", "-m", "three")
    git(tmp_path, "switch", "-q", "change")
    return folder


def test_what_differs_from_where_the_branch_began(project: Path) -> None:
    start = merge_base(project, "main")
    assert changed_files(project, start) == ["Pulumi.a.yaml", "gone.py"]
    # Not committed yet, and a file with a name that git would quote.
    (project.parent / "shared.py").write_text("2")
    (project / "neu ä.py").write_text("")
    (project / "ignored").write_text("")
    assert changed_files(project, start) == ["../shared.py", "Pulumi.a.yaml", "gone.py", "neu ä.py"]


def test_the_files_of_the_base(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "base"
    folder.mkdir()
    inside = write_tree(project, merge_base(project, "main"), folder)
    assert inside == folder / "infra"
    assert (inside / "Pulumi.a.yaml").read_text() == "Pulumi.a.yaml"
    assert (inside / "gone.py").exists()
    assert (folder / "shared.py").exists()
    assert len(git(project, "worktree", "list").splitlines()) == 1


def test_a_base_that_is_not_there(project: Path, tmp_path: Path) -> None:
    with pytest.raises(GitError, match=r"--base=release: commit not found here; give a branch or commit, in CI"):
        merge_base(project, "release")
    # Nobody says: origin's branch, and without one the local main.
    assert merge_base(project, default_base({})) == merge_base(project, "main")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    with pytest.raises(GitError, match="commit not found"):
        merge_base(outside, "main")


def test_the_base_by_the_ci() -> None:
    assert default_base({"GITHUB_ACTIONS": "true"}) == "HEAD^1"
    assert default_base({"GITLAB_CI": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "abc"}) == "abc"
    assert default_base({}) == "origin/HEAD"
