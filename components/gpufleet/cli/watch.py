"""`gpufleet watch ENV`: what runs in an environment now."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json, wide_option
from gpufleet.cli.stack_options import any_team, of_environment, on_option, outputs_of, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpufleet.fleet.live_state import LiveState


@click.command()
@of_environment
@on_option
@click.option("--every", type=click.IntRange(2, 3600), default=10, metavar="SECONDS", show_default=True,
              help="How often a terminal's page is renewed, 2 to 3600.")  # fmt: skip
@click.option("--once", is_flag=True, help="Print it once; so it is where the output is not a terminal.")
@wide_option
@json_option
@exit_with_errors
def watch(
    environment: str,
    program: Path,
    outputs: Path | None,
    on: str | None,
    every: int,
    once: bool,
    wide: bool,
    as_json: bool,
) -> int:
    """Show the nodes, GPUs, cost and jobs of an environment, live.

    Ctrl-C ends it; nothing is changed. GPU activity comes from the cluster's exporter, as in `gpufleet ps`.

    \b
    gpufleet watch aws-dev --every 30
    gpufleet watch aws-dev --json
    """
    from gpufleet.fleet.live_state import live_state
    from gpufleet.terminal import wide_console

    # Nodes do not belong to a team.
    team = any_team(outputs_of(environment, program, outputs))
    settings = settings_of(environment, program, outputs, on, team=team)
    state = live_state(settings, datetime.now(UTC))
    if as_json:
        from gpufleet.fleet.formats.live import live_to_dict

        print_json(live_to_dict(state))
        return 0
    console = wide_console()
    if once or not console.is_terminal:
        from gpufleet.fleet.formats.live import print_live

        print_live(state, console, wide=wide)
        return 0
    _follow(state, lambda: live_state(settings, datetime.now(UTC)), every, wide=wide)
    return 0


def _follow(state: "LiveState", again: "Callable[[], LiveState]", every: int, *, wide: bool) -> None:
    """Renew the page until Ctrl-C. A failure is shown below the last state, and asked again."""
    import time

    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from gpufleet.errors import UserError
    from gpufleet.fleet.formats.live import print_live
    from gpufleet.terminal import wide_console

    fault = ""
    try:
        with Live(console=Console(), screen=True, auto_refresh=False) as page:
            while True:
                console = wide_console()
                with console.capture() as captured:
                    print_live(state, console, wide=wide)
                    console.print(f"\n{fault}" if fault else f"\nrenewed every {every} s; Ctrl-C ends it")
                page.update(Text.from_ansi(captured.get()), refresh=True)
                time.sleep(every)
                try:
                    state, fault = again(), ""
                except UserError as error:
                    fault = f"Error: {error}; trying again every {every} s"
    except KeyboardInterrupt:
        return
