"""Options that say how a command prints.

With `--json`, standard output holds one JSON document and nothing else; what is meant for people goes to standard
error. If the command itself ends with an error, standard output is empty; if Pulumi's engine fails in a rehearsal, the
document has its exit code. The exit code is the same as without.
"""

import json
from collections.abc import Mapping

import click

SCHEMA = 1
"""Version of a document of `print_json`; it changes when a field is removed or changes its meaning."""

wide_option = click.option("--wide", is_flag=True, help="Show all columns, however wide the table becomes.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(document: Mapping[str, object]) -> None:
    """The one document of a command, with its version. Never give it a secret."""
    click.echo(json.dumps({"schema": SCHEMA, **document}, indent=2))
