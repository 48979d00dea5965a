"""Provider invokes at run time (decision 12), with one-line errors."""

from collections.abc import Callable
from typing import TypeVar

import pulumi

T = TypeVar("T")


def invoke_or_fail(what: str, ask: Callable[[], T]) -> T:
    """The answer to ``ask``, a function of Azure's provider; to be called in an ``apply``.

    Pulumi shows the traceback of an answer that an ``_output`` function could not get, and the engine stops answering
    as soon as any resource has failed. Errors: pulumi.RunError, for which ``what`` says what is missing.
    """
    try:
        return ask()
    # The SDK raises nothing more exact.
    except Exception as error:
        raise pulumi.RunError(f"{what} cannot be read: {error}") from error
