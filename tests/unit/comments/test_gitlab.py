"""Notes on a merge request of GitLab, as its documentation has them. Nobody has tried it on a real GitLab."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from gpufleet.comments.ci_environment import code_host_of, run_of
from gpufleet.comments.sticky import update_comments

STACK = "gpufleet/aws-dev"
BODY = f"<!-- gpufleet-report:{STACK} -->\n### passed\n"
NOTES = "/api/v4/projects/42/merge_requests/7/notes"


class FakeGitLab(BaseHTTPRequestHandler):
    """https://docs.gitlab.com/api/notes/: 100 notes a page at most, here 2; PUT edits."""

    notes: list[dict[str, Any]]

    def reply(self, status: int, said: object, link: str = "") -> None:
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if link:
            self.send_header("Link", link)
        self.end_headers()
        self.wfile.write(text)

    def handle_one(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        path, _, query = self.path.partition("?")
        if self.headers.get("PRIVATE-TOKEN") != "glpat":
            self.reply(401, {"message": "401 Unauthorized"})
        elif path == "/api/v4/user":
            self.reply(200, {"username": "project_42_bot"})
        elif path == NOTES.removesuffix("/notes"):
            self.reply(200, {"sha": "c1"})
        elif path == NOTES and self.command == "GET":
            page = int(query.rpartition("page=")[2]) if "&page=" in query else 1
            url = f"http://{self.headers['Host']}{NOTES}?per_page=100&page={page + 1}"
            link = f'<{url}>; rel="next"' if len(self.notes) > page * 2 else ""
            self.reply(200, self.notes[page * 2 - 2 : page * 2], link)
        elif path == NOTES:
            note = {"id": 100 + len(self.notes), "author": {"username": "project_42_bot"}, **sent}
            self.notes.append(note)
            self.reply(201, note)
        elif self.command == "PUT":
            (note,) = [each for each in self.notes if path == f"{NOTES}/{each['id']}"]
            note.update(sent)
            self.reply(200, note)
        else:
            self.reply(404, {"message": "404 Not found"})

    do_GET = do_POST = do_PUT = do_DELETE = handle_one

    def log_message(self, *_: object) -> None: ...


@contextmanager
def fake_gitlab() -> Iterator[str]:
    """The server's API, where five notes are somebody's, until the block ends."""
    FakeGitLab.notes = [{"id": n, "author": {"username": "somebody"}, "body": BODY} for n in range(5)]
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeGitLab)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/api/v4"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def url() -> Iterator[str]:
    with fake_gitlab() as found:
        yield found


def test_created_once_then_edited(url: str) -> None:
    variables = {
        "GITLAB_CI": "true",
        "CI_API_V4_URL": url,
        "CI_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_COMMIT_SHA": "c1",
        "GITLAB_TOKEN": "glpat",
    }
    for number, outcome in ((1, "created"), (2, "edited")):
        run = run_of(variables | {"CI_PIPELINE_ID": str(number), "CI_JOB_ID": "9"}, None)
        assert update_comments(code_host_of(variables, None, "", 5), {STACK: BODY}, run) == {STACK: outcome}
    assert len(FakeGitLab.notes) == 6
    assert "gpufleet-run:2.9 c1 -->" in FakeGitLab.notes[-1]["body"]
