"""Queries to git, by its command line."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from gpufleet.errors import UserError

_BRANCHES = ("origin/main", "main", "origin/master", "master")


class GitError(UserError):
    """A git query failed; the text is one line for the user."""


def default_base(variables: Mapping[str, str]) -> str:
    """The default base of a change: in CI the branch it is merged into, else origin's branch.

    A pull request's checkout on GitHub is its merge with the base, whose first parent is the base; so two commits of
    history are enough (docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows).
    """
    if variables.get("GITLAB_CI"):
        return variables.get("CI_MERGE_REQUEST_DIFF_BASE_SHA") or "HEAD^1"
    if variables.get("GITHUB_ACTIONS"):
        return "HEAD^1"
    return "origin/HEAD"


def merge_base(project: Path, base: str) -> str:
    """The merge base of HEAD and a branch or commit. Errors: GitError if git does not find it."""
    if base == "origin/HEAD" and not _knows(project, base):
        base = next((each for each in _BRANCHES if _knows(project, each)), base)
    if not _knows(project, base):
        raise GitError(
            f"--base={base}: commit not found here; give a branch or commit, in CI fetch it (fetch-depth: 2 on "
            "GitHub, GIT_DEPTH: 0 on GitLab), or name environments"
        )
    return _git(project, "merge-base", base, "HEAD").strip()


def is_ancestor(project: Path, commit: str, other: str) -> bool:
    """Whether a commit is another one, or lies before it. False for a commit that is not here."""
    return not _run(project, "merge-base", "--is-ancestor", commit, other).returncode


def changed_files(project: Path, commit: str) -> list[str]:
    """Files that differ from a commit, those not committed yet too; relative to the project, `../` above it."""
    names = _git(project, "diff", "--name-only", "--no-renames", "-z", commit).split("\0")
    new = _git(project, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/").split("\0")
    top = Path(_git(project, "rev-parse", "--show-toplevel").strip())
    return sorted({os.path.relpath(top / name, project) for name in (*names, *new) if name})


def write_tree(project: Path, commit: str, folder: Path) -> Path:
    """Write the files of a commit into a folder, which git then knows nothing of, and return the project in it."""
    inside = _git(project, "rev-parse", "--show-prefix").strip()
    archive = subprocess.Popen(
        ["git", "archive", "--format=tar", commit],
        cwd=_git(project, "rev-parse", "--show-toplevel").strip(),
        stdout=subprocess.PIPE,
    )
    with archive:
        done = subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, capture_output=True, check=False)
    if archive.returncode or done.returncode:
        raise GitError(f"git archive {commit}: cannot be written to {folder}: {done.stderr.decode().strip()}")
    return folder / inside


def _knows(project: Path, name: str) -> bool:
    # To git a word that begins with - is an option.
    return (
        not name.startswith("-")
        and not _run(project, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").returncode
    )


def _git(project: Path, *words: str) -> str:
    done = _run(project, *words)
    if done.returncode:
        raise GitError(f"git {words[0]}: {' '.join(done.stderr.split()) or f'ended with {done.returncode}'}")
    return done.stdout


def _run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(["git", *words], cwd=project, capture_output=True, text=True, check=False)
    except OSError as error:
        raise GitError(f"git: cannot be run: {error.strerror}; name environments instead") from error
