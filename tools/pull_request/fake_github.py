"""A small server that plays GitHub's API of comments, and refuses what GitHub refuses.

Sources: https://docs.github.com/en/rest/issues/comments, .../rest/pulls/pulls#get-a-pull-request, .../rest/users/users
(an installation's token: 403 "Resource not accessible by integration"), .../rest/using-the-rest-api/
{getting-started-with-the-rest-api (User-Agent is a must), rate-limits-..., using-pagination-...}-in/for-the-rest-api.
Documented, not observed by us: the code and words of each answer; 65,536 characters of a body (GitHub's own message).
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "ghs_played"
REPOSITORY = "acme/fleet"
LONGEST = 65_536
_COMMENTS = re.compile(rf"/repos/{REPOSITORY}/issues/(\d+)/comments(?:\?(.*))?")
_COMMENT = re.compile(rf"/repos/{REPOSITORY}/issues/comments/(\d+)")
_PULL = re.compile(rf"/repos/{REPOSITORY}/pulls/(\d+)")

Answer = tuple[int, object, dict[str, str]]


@dataclass
class FakeGitHub:
    """The state of one repository. heads: pull request -> its commit. read_only: the token of a fork's run.
    user: whose token it is; None: that of the installation of an app.

    next: answers that the next requests that write get instead, one each. before: called with (method, path) before a
    request is looked at, outside of the lock, as another run that comes in between would be.
    asked: every request. edits: how often each comment was edited.
    """

    heads: dict[int, str] = field(default_factory=lambda: {7: "c1"})
    comments: list[dict[str, Any]] = field(default_factory=list)
    read_only: bool = False
    user: str | None = None
    app: str = "github-actions[bot]"
    next: list[Answer] = field(default_factory=list)
    before: Callable[[str, str], None] | None = None
    after: Callable[[str, str], None] | None = None
    asked: list[str] = field(default_factory=list)
    edits: dict[int, int] = field(default_factory=dict)
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: int = 1000

    def add(self, body: str, author: str = "github-actions[bot]", pull: int = 7) -> int:
        self.numbers += 1
        self.comments.append({"id": self.numbers, "body": body, "user": {"login": author}, "pull": pull})
        return self.numbers

    def environment(self, commit: str = "", run: int = 0) -> dict[str, str]:
        """Variables of a workflow's step."""
        return {
            "GITHUB_API_URL": self.url,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_RUN_ID": str(run),
            "GITHUB_RUN_ATTEMPT": "1",
        }


def refusal(status: int, message: str, **headers: str) -> Answer:
    documentation = "https://docs.github.com/rest"
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"message": message, "documentation_url": documentation, "status": str(status)}, sent


def answer(played: FakeGitHub, method: str, path: str, headers: dict[str, str], content: bytes) -> Answer:
    """What GitHub would say, and the state after it."""
    if not headers.get("user-agent"):
        return refusal(403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent")
    if headers.get("authorization") != f"Bearer {TOKEN}":
        return refusal(401, "Bad credentials")
    if headers.get("x-github-api-version") != "2022-11-28":
        return refusal(400, "X-GitHub-Api-Version is not a supported version")
    if headers.get("accept") != "application/vnd.github+json":
        return refusal(415, "Unsupported 'Accept' header")
    writes = method in ("POST", "PATCH", "DELETE")
    if writes and played.next:
        return played.next.pop(0)
    if path == "/user" and method == "GET":
        if played.user is None:
            return refusal(403, "Resource not accessible by integration")
        return 200, {"login": played.user}, {}
    if writes and played.read_only:
        return refusal(403, "Resource not accessible by integration")
    body: object = None
    if method in ("POST", "PATCH"):
        if headers.get("content-type", "").partition(";")[0] != "application/json":
            return refusal(415, "Content-Type must be application/json")
        try:
            sent = json.loads(content)
        except ValueError:
            return refusal(400, "Problems parsing JSON")
        body = sent.get("body") if isinstance(sent, dict) else None
        if not isinstance(body, str) or not body.strip():
            return refusal(422, "Validation Failed: body cannot be blank")
        if len(body) > LONGEST:
            return refusal(422, f"Validation Failed: Body is too long (maximum is {LONGEST} characters)")
    return _kept(played, method, path, body)


def _kept(played: FakeGitHub, method: str, path: str, body: object) -> Answer:
    if method == "GET" and (found := _PULL.fullmatch(path)):
        head = played.heads.get(int(found[1]))
        return refusal(404, "Not Found") if head is None else (200, {"head": {"sha": head}}, {})
    if found := _COMMENTS.fullmatch(path):
        pull = int(found[1])
        if pull not in played.heads:
            return refusal(404, "Not Found")
        if method == "POST":
            made = played.add(str(body), played.user or played.app, pull)
            return 201, next(each for each in played.comments if each["id"] == made), {}
        if method == "GET":
            return _page(played, pull, found[2] or "")
    if found := _COMMENT.fullmatch(path):
        there = next((each for each in played.comments if each["id"] == int(found[1])), None)
        if there is None:
            return refusal(404, "Not Found")
        if method == "PATCH":
            there["body"] = body
            played.edits[there["id"]] = played.edits.get(there["id"], 0) + 1
            return 200, there, {}
        if method == "DELETE":
            played.comments.remove(there)
            return 204, None, {}
    return refusal(404, "Not Found")


def _page(played: FakeGitHub, pull: int, query: str) -> Answer:
    words = dict(each.split("=", 1) for each in query.split("&") if "=" in each)
    size, page = min(int(words.get("per_page", "30")), 100), int(words.get("page", "1"))
    every = [each for each in played.comments if each["pull"] == pull]
    url = f"{played.url}/repos/{REPOSITORY}/issues/{pull}/comments?per_page={size}&page="
    links = [f'<{url}{page - 1}>; rel="prev"'] if page > 1 else []
    if page * size < len(every):
        links.append(f'<{url}{page + 1}>; rel="next"')
    return 200, every[(page - 1) * size : page * size], {"Link": ", ".join(links)} if links else {}


@contextmanager
def fake_github() -> Iterator[FakeGitHub]:
    """The server on a port of its own, until the block ends."""
    played = FakeGitHub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if played.before:
                played.before(self.command, self.path)
            with played.lock:
                played.asked.append(f"{self.command} {self.path}")
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, said, more = answer(played, self.command, self.path, headers, content)
                text = b"" if said is None else json.dumps(said).encode()
            if played.after:
                played.after(self.command, self.path)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json; charset=utf-8", **more}.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_one

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    played.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield played
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
