"""The pull request of a CI run, by the variables that the CI sets.

Sources: https://docs.github.com/en/actions/reference/workflows-and-actions/variables,
https://docs.gitlab.com/ci/variables/predefined_variables/.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from gpufleet.comments.code_host import CodeHost, CommentError
from gpufleet.comments.github import URL, GitHub
from gpufleet.comments.gitlab import GitLab
from gpufleet.comments.sticky import CiRun
from gpufleet.documents.json import read_json

_GITHUB = "set GITHUB_REPOSITORY=owner/name, GITHUB_TOKEN and --pull-request NUMBER"


class _Commit(TypedDict, total=False):
    sha: str


class _PullRequest(TypedDict, total=False):
    number: int
    head: _Commit


class _Event(TypedDict, total=False):
    """What is read of GitHub's event."""

    pull_request: _PullRequest | None


def code_host_of(variables: Mapping[str, str], number: int | None, login: str, seconds: float) -> CodeHost:
    """The pull request that a job is about. number: instead of the event's. Errors: CommentError."""
    if variables.get("GITLAB_CI"):
        return _gitlab(variables, number, login, seconds)
    missing = [each for each in ("GITHUB_REPOSITORY", "GITHUB_TOKEN") if not variables.get(each)]
    found = number or _pull_request(variables).get("number")
    if missing or not found:
        what = ", ".join([*missing, *([] if found else ["the number of the pull request"])])
        raise CommentError(f"{what}: not known, so there is nowhere to comment; {_GITHUB}")
    return GitHub(
        variables["GITHUB_REPOSITORY"],
        found,
        variables["GITHUB_TOKEN"],
        url=variables.get("GITHUB_API_URL") or URL,
        login=login,
        seconds=seconds,
    )


def run_of(variables: Mapping[str, str], commit: str | None, report: str | None = None) -> CiRun:
    """The run that we are in. commit: instead of the pull request's head. report: where no event tells that."""
    head = commit or head_of(variables) or report or ""
    if variables.get("GITLAB_CI"):
        return CiRun(head, _whole(variables.get("CI_PIPELINE_ID")), _whole(variables.get("CI_JOB_ID")))
    return CiRun(head, _whole(variables.get("GITHUB_RUN_ID")), _whole(variables.get("GITHUB_RUN_ATTEMPT")))


def head_of(variables: Mapping[str, str]) -> str | None:
    """The pull request's own commit: what is checked out is its merge with the base."""
    if variables.get("GITLAB_CI"):
        return variables.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or variables.get("CI_COMMIT_SHA")
    return _pull_request(variables).get("head", {}).get("sha") or None


def _gitlab(variables: Mapping[str, str], number: int | None, login: str, seconds: float) -> CodeHost:
    names = ("CI_API_V4_URL", "CI_PROJECT_ID", "GITLAB_TOKEN")
    missing = [each for each in names if not variables.get(each)]
    found = number or _whole(variables.get("CI_MERGE_REQUEST_IID"))
    if missing or not found:
        what = ", ".join([*missing, *([] if found else ["CI_MERGE_REQUEST_IID"])])
        raise CommentError(
            f"{what}: not set, so there is nowhere to comment; GITLAB_TOKEN is a project's access token with the scope "
            "`api`, a job's own token may not write notes"
        )
    project, token, url = (variables[each] for each in ("CI_PROJECT_ID", "GITLAB_TOKEN", "CI_API_V4_URL"))
    return GitLab(project, found, token, url=url, login=login, seconds=seconds)


def _pull_request(variables: Mapping[str, str]) -> _PullRequest:
    """What GitHub's event says of the pull request."""
    file = variables.get("GITHUB_EVENT_PATH")
    if not file:
        return {}
    event = read_json(Path(file), "GITHUB_EVENT_PATH must name the file of the event", shape=_Event)
    return event.get("pull_request") or {}


def _whole(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
