"""Questions to an account, and what happens to those that it does not answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, ParamSpec, TypeVar

from gpufleet.errors import UserError
from gpufleet.extras import install_hint

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class QueryResult(Generic[T]):
    """What came back. known: whether anything did; then `value` may still be None, for "there is none"."""

    known: bool
    value: T | None = None


@dataclass
class QueryRunner:
    """Asks, and keeps why an answer is not known: `reasons`, each once, in the order of the questions."""

    reasons: list[str] = field(default_factory=list)

    def ask(self, question: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> QueryResult[T]:
        """The answer; none, with a reason, when the question raises what is meant for the user or misses an extra."""
        try:
            return QueryResult(True, question(*args, **kwargs))
        except UserError as error:
            self.add(str(error))
        except ModuleNotFoundError as error:
            self.add(f"{error.name} is not installed; {install_hint('accounts')}")
        return QueryResult(False)

    def add(self, reason: str) -> None:
        """Keep a reason, if it is not there already."""
        if reason not in self.reasons:
            self.reasons.append(reason)
