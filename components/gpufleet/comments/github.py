"""Comments on a pull request of GitHub.

Source: https://docs.github.com/en/rest/issues/comments (a pull request is an issue there); the largest body, which no
page tells: "Body is too long (maximum is 65536 characters)", as its API answers with 422.
"""

from collections.abc import Iterator

from gpufleet.comments.code_host import Comment, PermissionDenied
from gpufleet.comments.http import CodeHostApi
from gpufleet.comments.retry import SECONDS

URL = "https://api.github.com"
VERSION = "2022-11-28"
WORKFLOWS = "github-actions[bot]"
"""Who comments with the token of a workflow. Such a token may not ask who it is: 403. Nor may another App's: the first
comment that it writes tells; then its older one is found and edited, and the new one deleted."""


class GitHub:
    """Implements `CodeHost`. repository: owner/name. login: who comments, where the token does not tell."""

    limit = 65_536

    def __init__(
        self, repository: str, number: int, token: str, *, url: str = URL, login: str = "", seconds: float = SECONDS
    ) -> None:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "User-Agent": "gpufleet",
            "X-GitHub-Api-Version": VERSION,
        }
        self._api = CodeHostApi(url, headers, seconds)
        self._repository, self._number, self._login = f"/repos/{repository}", number, login
        self.label = f"{repository}#{number}"

    def head(self) -> str:
        return str(self._api.request("GET", f"{self._repository}/pulls/{self._number}")["head"]["sha"])

    def author(self) -> str:
        if not self._login:
            try:
                self._login = str(self._api.request("GET", "/user")["login"])
            except PermissionDenied:
                self._login = WORKFLOWS
        return self._login

    def comments(self) -> Iterator[Comment]:
        for each in self._api.pages(f"{self._repository}/issues/{self._number}/comments?per_page=100"):
            # The account of a deleted user is null.
            yield Comment(int(each["id"]), str((each["user"] or {}).get("login", "")), str(each["body"] or ""))

    def create(self, body: str) -> Comment:
        made = self._api.request("POST", f"{self._repository}/issues/{self._number}/comments", {"body": body})
        # Now it is known who we are, also with the token of an App of one's own.
        self._login = str(made["user"]["login"])
        return Comment(int(made["id"]), self._login, str(made["body"]))

    def edit(self, number: int, body: str) -> None:
        self._api.request("PATCH", f"{self._repository}/issues/comments/{number}", {"body": body})

    def delete(self, number: int) -> None:
        self._api.request("DELETE", f"{self._repository}/issues/comments/{number}")
