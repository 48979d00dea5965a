"""One comment for each stack: created once, then edited, no matter who else comments and how many runs there are.

A comment is known by its first line, the report's hidden marker, and by its author: a marker in somebody else's comment
is only text. Its second line, hidden too, says which run wrote it, so that an older run never writes over a newer one.
No code host's API can edit a comment only if it is still the same. So a run looks at the pull request's head right
before it writes: had it moved, a newer run would be on its way. What two runs create at the same time is settled by
both looking again: the first comment stays, and who wrote another deletes it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gpufleet.comments.code_host import CodeHost, Comment, CommentError
from gpufleet.report.formats.markdown import marker_of

CommentOutcome = Literal["created", "edited", "outdated", "closed"]
_RUN = re.compile(r"<!-- gpufleet-run:(\d+)\.(\d+) ([0-9a-f]*) -->")
_GONE = "No longer affected by this pull request."
_MARKER = re.compile(r"<!-- gpufleet-report:(\S+) -->")


@dataclass(frozen=True, slots=True)
class CiRun:
    """Which run writes. number: grows with each; 0 outside of CI. attempt: of the same run. commit: what it is about,
    the head of the pull request at that time."""

    commit: str = ""
    number: int = 0
    attempt: int = 0

    @property
    def line(self) -> str:
        return f"<!-- gpufleet-run:{self.number}.{self.attempt} {self.commit} -->"

    @property
    def order(self) -> tuple[int, int]:
        return self.number, self.attempt


def update_comments(
    place: CodeHost, bodies: Mapping[str, str], run: CiRun, *, whole_project: str | None = None
) -> dict[str, CommentOutcome]:
    """Write one comment for each body. bodies: stack (project/stack) -> Markdown whose first line is its marker.

    whole_project: a Pulumi project of whose stacks the bodies are all that the pull request affects; then comments on
    its other stacks say that they are no longer affected.
    Errors: CommentError, PermissionDenied.
    """
    for stack, body in bodies.items():
        if stack_of(body) != stack:
            raise CommentError(f"{stack}: its text does not start with its marker; use a report of this version")
        if len(_signed(body, run)) > place.limit:
            raise CommentError(f"{stack}: {len(body)} characters, at most {place.limit}; write the report again")
    own = _own(place)
    found: dict[str, CommentOutcome] = {stack: _one(place, stack, body, run, own) for stack, body in bodies.items()}
    for stack in sorted(own.keys() - bodies.keys()):
        if stack.rpartition("/")[0] != whole_project or _GONE in own[stack][0].body:
            continue
        gone = f"{marker_of(stack)}\n### gpufleet: `{stack}`\n\n{_GONE}\n"
        outcome = _one(place, stack, gone, run, own)
        found[stack] = "closed" if outcome == "edited" else outcome
    return found


def stack_of(body: str) -> str | None:
    """The stack that our comment is about, None for any other text."""
    marked = _MARKER.fullmatch(body.partition("\n")[0].strip())
    return marked[1] if marked else None


def _one(place: CodeHost, stack: str, body: str, run: CiRun, own: Mapping[str, Sequence[Comment]]) -> CommentOutcome:
    text = _signed(body, run)
    there = own.get(stack, ())
    if _overtaken(place, there, run):
        return "outdated"
    if there:
        place.edit(there[0].number, text)
        for more in there[1:]:
            place.delete(more.number)
        return "edited"
    made = place.create(text)
    # Another run that creates at the same time sees both now, and so do we. So is a request found that was sent twice,
    # and our older comment where only the new one has told who we are.
    first, *others = _own(place).get(stack, [made])
    if first.number == made.number:
        for more in others:
            if _run_of(more.body) == run:
                place.delete(more.number)
        return "created"
    outdated = _overtaken(place, [first], run)
    if not outdated:
        place.edit(first.number, text)
    for more in others:
        if more.number == made.number:
            place.delete(more.number)
    return "outdated" if outdated else "edited"


def _overtaken(place: CodeHost, there: Sequence[Comment], run: CiRun) -> bool:
    """Whether a newer run has written, or will: then the pull request is at another commit than ours."""
    if any(_run_of(each.body).order > run.order for each in there) and run.number:
        return True
    return bool(run.commit) and place.head() != run.commit


def _own(place: CodeHost) -> dict[str, list[Comment]]:
    """Our comments by stack, the oldest first."""
    author, found = place.author(), dict[str, list[Comment]]()
    for each in place.comments():
        stack = stack_of(each.body)
        if stack is not None and each.author == author:
            found.setdefault(stack, []).append(each)
    return {stack: sorted(each, key=lambda one: one.number) for stack, each in found.items()}


def _signed(body: str, run: CiRun) -> str:
    marker, _, rest = body.partition("\n")
    return f"{marker}\n{run.line}\n{rest}"


def _run_of(body: str) -> CiRun:
    found = _RUN.fullmatch([*body.split("\n", 2), ""][1].strip())
    return CiRun(found[3], int(found[1]), int(found[2])) if found else CiRun()
