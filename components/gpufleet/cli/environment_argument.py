"""The argument ENVIRONMENT, which a shell can complete."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])


def environment_argument(name: str = "environment", **attributes: Any) -> Callable[[F], F]:  # noqa: ANN401 - click's own
    """The argument: an environment of the project at `--program`. attributes: of click.argument."""
    return click.argument(name, shell_complete=_environments, **attributes)


def _environments(context: click.Context, parameter: click.Parameter, incomplete: str) -> Sequence[CompletionItem]:
    """The environments that begin so; none away from a project, where a shell has no place for an error."""
    from gpufleet.errors import UserError
    from gpufleet.report.configuration_files import environment_names, project_folder

    try:
        names = environment_names(project_folder(Path(context.params.get("program") or ".")))
    except UserError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
