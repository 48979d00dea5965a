"""The workflow that reaps: what it may do, and that its command lines are ones of ours."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from gpufleet.cli import main

FILE = Path(__file__).parents[3] / ".github" / "workflows" / "reap.yml"


@pytest.fixture
def workflow() -> dict[str, Any]:
    # All of it as texts: YAML 1.1 would read the key `on` as a truth.
    return dict(yaml.load(FILE.read_text(), yaml.BaseLoader))


@pytest.fixture
def job(workflow: dict[str, Any]) -> dict[str, Any]:
    (job,) = workflow["jobs"].values()
    return dict(job)


def parsed(line: str, env: dict[str, str]) -> dict[str, Any]:
    """A command line of the job as our own parser understands it. Errors: click.UsageError."""
    words = [env.get(word.removeprefix("$"), word) for word in shlex.split(line)]
    assert words[0] == "gpufleet"
    command: click.Command = main.commands[words[1]]
    return command.make_context(words[1], words[2:]).params


def test_its_commands_are_ours(job: dict[str, Any]) -> None:
    assert job["env"]["GRACE"] == "${{ vars.GPUFLEET_GRACE || '24h' }}"
    assert job["env"]["KEEP"] == "${{ vars.GPUFLEET_KEEP }}"
    # As it is when nobody has set the variable: production stays without it.
    env = {"GRACE": "24h", "KEEP": ""}
    lines = [line for step in job["steps"] for line in step.get("run", "").splitlines() if "gpufleet " in line]
    found = [parsed(line, env) for line in lines]
    assert [(each["yes"], each["dry_run"], each["grace"], each["keep"]) for each in found] == [
        (True, False, "24h", ("",)),
        (False, True, "24h", ("",)),
    ]
    with pytest.raises(click.UsageError, match="No such option"):
        parsed("gpufleet reap --forever", env)


def test_only_the_schedule_and_the_box_destroy(workflow: dict[str, Any], job: dict[str, Any]) -> None:
    (destroys,) = [step for step in job["steps"] if "--yes" in step.get("run", "")]
    assert destroys["if"] == "github.event_name == 'schedule' || inputs.destroy"
    assert set(workflow["on"]) == {"schedule", "workflow_dispatch"}
    assert workflow["on"]["workflow_dispatch"]["inputs"]["destroy"]["default"] == "false"


def test_it_may_do_little_and_one_at_a_time(workflow: dict[str, Any], job: dict[str, Any]) -> None:
    assert workflow["permissions"] == {}
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    assert workflow["concurrency"] == {"group": "reap", "cancel-in-progress": "false"}
    assert job["if"] == "vars.GPUFLEET_BACKEND != ''"
    for step in job["steps"]:
        # Nothing of GitHub's is put into a shell's text, and no action can change under us.
        assert "${{" not in step.get("run", "")
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40)), step
