"""Every verb has `--json`, in one way: one document on standard output, everything else on standard error."""

import json
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.cli.output_options import SCHEMA

WITHOUT = {
    "nodes script": "prints a shell script, which its caller runs",
    "permissions": "prints IAM policies, which are JSON already: one in a line, as AWS takes them",
}
"""The verbs without it, each with the reason."""


def verbs(command: click.Command = main, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by the words that call it."""
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    for name, each in command.commands.items():
        yield from verbs(each, (*path, name))


def test_every_verb_has_it() -> None:
    options = {name: [word for each in verb.params for word in each.opts] for name, verb in verbs()}
    assert len(options) > 30
    assert {name for name, words in options.items() if "--json" not in words} == WITHOUT.keys()


def test_refusals_of_the_simulated_clouds() -> None:
    done = CliRunner().invoke(main, ["rehearse", "--refusals", "--json"])
    found = json.loads(done.stdout)
    assert found.pop("schema") == SCHEMA
    assert found.keys() == {"aws", "azure-native"}
    for cloud in found.values():
        assert len(cloud) > 100
        assert all(each["words"] and each["source"].strip() for each in cloud)
    assert done.stderr == ""


@pytest.mark.parametrize("words", [["--shell"], ["--", "true"]])
def test_what_a_command_in_a_rehearsal_prints_is_its_own(words: list[str]) -> None:
    done = CliRunner().invoke(main, ["rehearse", "aws-dev", "--json", *words])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--json is for a rehearsal without a command or a shell" in done.stderr
