"""Comments on a played GitHub: created once, then edited, and what may come in between."""

import threading
import time
from collections.abc import Iterator

import pytest

from gpufleet.comments.code_host import CommentError, PermissionDenied
from gpufleet.comments.github import GitHub
from gpufleet.comments.sticky import CiRun, update_comments
from tools.pull_request.fake_github import LONGEST, REPOSITORY, TOKEN, FakeGitHub, fake_github, refusal

STACK = "gpufleet/aws-prod"
BODY = f"<!-- gpufleet-report:{STACK} -->\n### refused\n"


@pytest.fixture
def played() -> Iterator[FakeGitHub]:
    with fake_github() as server:
        yield server


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the command waits each time; here it goes on at once."""
    seconds: list[float] = []
    monkeypatch.setattr(time, "sleep", seconds.append)
    return seconds


def place(played: FakeGitHub, seconds: float = 50, **words: str) -> GitHub:
    return GitHub(REPOSITORY, 7, words.get("token", TOKEN), url=played.url, seconds=seconds)


def put(played: FakeGitHub, text: str = "", commit: str = "c1", number: int = 1, **words: str) -> dict[str, str]:
    return dict(update_comments(place(played), {STACK: BODY + text}, CiRun(commit, number, 1), **words))


def test_created_once_then_edited(played: FakeGitHub) -> None:
    assert put(played, "one") == {STACK: "created"}
    played.heads[7] = "c2"
    assert put(played, "two", "c2", 2) == {STACK: "edited"}
    (only,) = played.comments
    lines = only["body"].splitlines()
    assert lines[0] == f"<!-- gpufleet-report:{STACK} -->"
    assert lines[1] == "<!-- gpufleet-run:2.1 c2 -->"
    assert lines[-1] == "two"


def test_found_behind_many_pages_of_others(played: FakeGitHub) -> None:
    for number in range(250):
        played.add(f"comment {number}", "somebody")
    assert put(played) == {STACK: "created"}
    for number in range(10):
        played.add(f"comment {number}", "somebody")
    assert put(played, "two", number=2) == {STACK: "edited"}
    assert len(played.comments) == 261
    assert sum("page=3" in each for each in played.asked) >= 2


def test_a_marker_in_somebody_elses_comment_is_text(played: FakeGitHub) -> None:
    played.add(BODY, "mallory")
    quoted = played.add(f"as I said:\n{BODY}")
    assert put(played) == {STACK: "created"}
    assert put(played, number=2) == {STACK: "edited"}
    assert [each["id"] for each in played.comments][:2] == [quoted - 1, quoted]
    assert set(played.edits) == {played.comments[-1]["id"]}


def test_an_own_user_instead_of_the_workflows(played: FakeGitHub) -> None:
    played.user = "fleet-bot"
    foreign = played.add(BODY)
    assert put(played) == {STACK: "created"}
    assert put(played, number=2) == {STACK: "edited"}
    assert foreign not in played.edits


def test_an_app_of_ones_own_that_may_not_ask_who_it_is(played: FakeGitHub) -> None:
    """Its first comment tells; from then on that one is edited, and it is still one."""
    played.app = "fleet-app[bot]"
    assert put(played, "one") == {STACK: "created"}
    assert put(played, "two", number=2) == {STACK: "edited"}
    assert put(played, "three", number=3) == {STACK: "edited"}
    (only,) = played.comments
    assert only["body"].endswith("three")
    assert (only["user"], played.edits) == ({"login": "fleet-app[bot]"}, {only["id"]: 2})


def test_the_largest_body_that_fits_and_the_next(played: FakeGitHub) -> None:
    run = CiRun("c1", 1, 1)
    room = LONGEST - len(BODY) - len(run.line) - 1
    assert put(played, "x" * room) == {STACK: "created"}
    assert len(played.comments[0]["body"]) == LONGEST
    with pytest.raises(CommentError, match=f"at most {LONGEST}; write the report again"):
        put(played, "x" * (room + 1))
    assert not [each for each in played.asked if each.startswith("PATCH")]


def test_fake_github_itself_refuses_what_is_too_long(played: FakeGitHub) -> None:
    with pytest.raises(CommentError, match="422 Validation Failed: Body is too long"):
        place(played).create("x" * (LONGEST + 1))
    assert played.comments == []


def test_a_token_that_may_only_read(played: FakeGitHub) -> None:
    played.read_only = True
    with pytest.raises(PermissionDenied, match="403 Resource not accessible by integration"):
        put(played)
    assert sum(each.startswith("POST") for each in played.asked) == 1


def test_a_wrong_token(played: FakeGitHub) -> None:
    with pytest.raises(PermissionDenied, match="401 Bad credentials"):
        update_comments(place(played, token="other"), {STACK: BODY}, CiRun("c1", 1, 1))


@pytest.mark.parametrize(
    "limit",
    [
        refusal(429, "Too many requests", Retry_After="1"),
        refusal(403, "You have exceeded a secondary rate limit", Retry_After="1"),
        refusal(403, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset="RESET"),
        refusal(429, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset="RESET"),
    ],
    ids=["429", "secondary", "primary-403", "primary-429"],
)
def test_waits_as_long_as_it_is_told(
    played: FakeGitHub, limit: tuple[int, object, dict[str, str]], slept: list[float]
) -> None:
    headers = {name: value.replace("RESET", str(int(time.time()) + 2)) for name, value in limit[2].items()}
    played.next = [(limit[0], limit[1], headers)]
    assert put(played) == {STACK: "created"}
    assert 1 <= sum(slept) <= 2
    assert len(played.comments) == 1


@pytest.mark.parametrize(
    "limit",
    [
        refusal(403, "You have exceeded a secondary rate limit", Retry_After="600"),
        refusal(403, "You have exceeded a secondary rate limit"),
        refusal(429, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset="99999999999"),
    ],
)
def test_no_longer_than_its_patience(
    played: FakeGitHub, limit: tuple[int, object, dict[str, str]], slept: list[float]
) -> None:
    played.next = [limit] * 3
    with pytest.raises(CommentError, match="too many requests") as raised:
        put(played)
    assert not isinstance(raised.value, PermissionDenied)
    assert slept == []
    assert len(played.next) == 2


def test_broken_for_a_moment(played: FakeGitHub) -> None:
    played.next = [refusal(502, "Server Error"), refusal(503, "Unavailable")]
    assert put(played) == {STACK: "created"}
    assert len(played.comments) == 1


def test_broken_for_good(played: FakeGitHub) -> None:
    played.next = [refusal(500, "Server Error")] * 20
    with pytest.raises(CommentError, match="keeps failing"):
        update_comments(place(played, seconds=2), {STACK: BODY}, CiRun("c1", 1, 1))


def test_created_though_the_answer_was_lost(played: FakeGitHub) -> None:
    """The request is sent again, and the second comment is taken away."""

    def lost(method: str, path: str) -> None:
        if method == "POST" and not played.comments:
            played.add(BODY.replace("\n", "\n<!-- gpufleet-run:1.1 c1 -->\n", 1))
            played.next.append(refusal(502, "Server Error"))

    played.before = lost
    assert put(played) == {STACK: "edited"}
    assert len(played.comments) == 1


def test_two_runs_that_create_at_the_same_time(played: FakeGitHub) -> None:
    """Both have seen no comment before either creates one; at the end there is one, of the newer run."""
    both = threading.Barrier(2, timeout=120)

    def together(method: str, path: str) -> None:
        if method == "POST":
            both.wait()

    def seen(method: str, path: str) -> None:
        # And neither looks again before the other has created.
        if method == "POST":
            both.wait()

    played.before, played.after = together, seen
    outcomes: dict[int, dict[str, str]] = {}

    def one(number: int) -> None:
        outcomes[number] = put(played, f"run {number}", number=number)

    threads = [threading.Thread(target=one, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (only,) = played.comments
    assert only["body"].endswith("run 2"), outcomes
    assert len(outcomes) == 2


def test_an_older_run_does_not_write_over_a_newer_one(played: FakeGitHub) -> None:
    assert put(played, "newer", number=2) == {STACK: "created"}
    # The same commit, run again by hand while the first still runs: the first is too late.
    assert put(played, "older", number=1) == {STACK: "outdated"}
    assert played.comments[0]["body"].endswith("newer")


def test_a_run_whose_commit_is_not_the_head_any_more(played: FakeGitHub) -> None:
    assert put(played, "first") == {STACK: "created"}

    # A newer commit is pushed between looking for comments and writing.
    def pushed(method: str, path: str) -> None:
        if "comments" in path:
            played.heads[7] = "c2"

    played.before = pushed
    assert put(played, "late", number=2) == {STACK: "outdated"}
    assert played.comments[0]["body"].endswith("first")


def test_duplicates_of_a_run_that_died_are_cleaned(played: FakeGitHub) -> None:
    first = played.add(BODY)
    played.add(BODY)
    assert put(played, "now") == {STACK: "edited"}
    assert [each["id"] for each in played.comments] == [first]


def test_two_runs_that_clean_at_the_same_time(played: FakeGitHub) -> None:
    first, other = played.add(BODY), played.add(BODY)

    def cleaned(method: str, path: str) -> None:
        if method == "DELETE":
            played.comments = [each for each in played.comments if each["id"] != other]

    played.before = cleaned
    assert put(played, "now") == {STACK: "edited"}
    assert [each["id"] for each in played.comments] == [first]


def test_a_stack_that_is_not_touched_any_more(played: FakeGitHub) -> None:
    other = "gpufleet/aws-dev"
    run = CiRun("c1", 1, 1)
    update_comments(place(played), {STACK: BODY, other: BODY.replace(STACK, other)}, run, whole_project="gpufleet")
    found = update_comments(place(played), {STACK: BODY}, CiRun("c1", 2, 1), whole_project="gpufleet")
    assert found == {STACK: "edited", other: "closed"}
    assert "No longer affected by this pull request" in played.comments[1]["body"]
    # Said once: the third run leaves it as it is.
    assert update_comments(place(played), {STACK: BODY}, CiRun("c1", 3, 1), whole_project="gpufleet") == {
        STACK: "edited"
    }
    assert "gpufleet-run:2.1" in played.comments[1]["body"]
    # And touched again, it is told anew.
    assert update_comments(place(played), {STACK: BODY, other: BODY.replace(STACK, other)}, CiRun("c1", 4, 1)) == {
        STACK: "edited",
        other: "edited",
    }


def test_a_text_without_its_marker(played: FakeGitHub) -> None:
    with pytest.raises(CommentError, match="does not start with its marker"):
        update_comments(place(played), {STACK: "hello"}, CiRun())
    assert played.asked == []
