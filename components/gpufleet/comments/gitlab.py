"""Notes on a merge request of GitLab.

Source: https://docs.gitlab.com/api/notes/#merge-requests; a job's own token (CI_JOB_TOKEN) may not write them:
https://docs.gitlab.com/ci/jobs/ci_job_token/. Not tried on a real GitLab.
"""

from collections.abc import Iterator
from urllib.parse import quote

from gpufleet.comments.code_host import Comment
from gpufleet.comments.http import CodeHostApi
from gpufleet.comments.retry import SECONDS


class GitLab:
    """Implements `CodeHost`. project: its number, or group/name."""

    limit = 1_000_000

    def __init__(
        self, project: str, number: int, token: str, *, url: str, login: str = "", seconds: float = SECONDS
    ) -> None:
        self._api = CodeHostApi(url, {"PRIVATE-TOKEN": token, "User-Agent": "gpufleet"}, seconds)
        self._request = f"/projects/{quote(project, safe='')}/merge_requests/{number}"
        self._login = login
        self.label = f"{project}!{number}"

    def head(self) -> str:
        return str(self._api.request("GET", self._request)["sha"])

    def author(self) -> str:
        self._login = self._login or str(self._api.request("GET", "/user")["username"])
        return self._login

    def comments(self) -> Iterator[Comment]:
        for each in self._api.pages(f"{self._request}/notes?per_page=100&sort=asc&order_by=created_at"):
            yield Comment(int(each["id"]), str(each["author"]["username"]), str(each["body"] or ""))

    def create(self, body: str) -> Comment:
        made = self._api.request("POST", f"{self._request}/notes", {"body": body})
        return Comment(int(made["id"]), str(made["author"]["username"]), str(made["body"]))

    def edit(self, number: int, body: str) -> None:
        self._api.request("PUT", f"{self._request}/notes/{number}", {"body": body})

    def delete(self, number: int) -> None:
        self._api.request("DELETE", f"{self._request}/notes/{number}")
