"""Options that say how a command prints."""

import click

wide_option = click.option("--wide", is_flag=True, help="Show all columns, however wide the table becomes.")
