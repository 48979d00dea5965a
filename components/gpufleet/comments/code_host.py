"""Where comments are written: what a code host has to be able to do."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from gpufleet.errors import UserError


class CommentError(UserError):
    """The code host does not do what it is asked; the text is the one line for the user."""


class Denied(CommentError):
    """The token may not write here, as that of a pull request from a fork."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment. number: grows with each new one. author: login of who wrote it."""

    number: int
    author: str
    body: str


class CodeHost(Protocol):
    """One pull request. limit: most characters of a body. Errors of each: Denied, CommentError."""

    limit: int
    said: str

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
