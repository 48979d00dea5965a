"""The interface of a code host, where comments are written."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from gpufleet.errors import UserError


class CommentError(UserError):
    """A request to the code host failed; the text is one line for the user."""


class PermissionDenied(CommentError):
    """The token may not write, as for a pull request from a fork."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. number: grows with each new one. author: login of who wrote it."""

    number: int
    author: str
    body: str


class CodeHost(Protocol):
    """One pull request. limit: most characters of a body. label: its name in messages.

    Errors of each: PermissionDenied, CommentError.
    """

    limit: int
    label: str

    def head(self) -> str:
        """The commit that the pull request is at now."""
        ...

    def author(self) -> str:
        """The login that comments are written under."""
        ...

    def comments(self) -> Iterator[Comment]:
        """All comments, the oldest first."""
        ...

    def create(self, body: str) -> Comment: ...

    def edit(self, number: int, body: str) -> None: ...

    def delete(self, number: int) -> None: ...
