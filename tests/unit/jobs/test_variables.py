"""Secrets in what a user asks for: in plain text nowhere, by name as variables. The line never shows a value."""

from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.request import parse_request
from gpufleet.jobs.settings import BACKENDS
from tests.unit.secret_examples import CERTAIN, LIKELY

TRAIN = {"command": ["python3", "train.py"], "workers": 2}


def faults(on: str = "kubernetes", **keys: Any) -> list[str]:
    try:
        parse_request({**TRAIN, **keys}, "job", on)
    except UserError as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize("name", CERTAIN | LIKELY)
def test_variable_that_looks_like_a_secret(name: str) -> None:
    value = (CERTAIN | LIKELY)[name]
    [line] = faults(env={"A": value})
    assert line.startswith("job: env=A: looks like a secret (")
    assert line.endswith(
        "), and others could read it in the job's definition; store it with `gpufleet secrets put`, and give "
        "--secret A=NAME"
    )
    assert value not in line


@pytest.mark.parametrize("on", BACKENDS)
def test_every_back_end_refuses_one_by_its_name(on: str) -> None:
    [line] = faults(on, env={"WANDB_API_KEY": "0a" * 20})
    assert line == (
        "job: env=WANDB_API_KEY: is a secret, by its name, and others could read it in the job's definition; store it "
        "with `gpufleet secrets put`, and give --secret WANDB_API_KEY=NAME"
    )


PLAIN = {
    "HF_TOKEN": "short", "MAX_TOKEN": "16777216", "TOKENIZERS_PARALLELISM": "false", "HF_TOKEN_PATH": "/run/secrets/hf",
    "TOKEN": "/run/secrets/token", "SECRET": "$HOME/secret", "DATA": "https://example.org/train.tar",
    "API_KEY": "disable",
    "OMP_NUM_THREADS": "8", "MODEL": "meta-llama/Llama-3.1-8B",
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_plain_variables_pass(name: str) -> None:
    assert faults(env={name: PLAIN[name]}) == []


def test_command_and_tags_hold_none() -> None:
    token = CERTAIN["hugging-face-token"]
    lines = faults("batch", command=["python3", "train.py", f"--hub={token}"], tags={"note": token})
    assert [line.partition(" (")[0] for line in lines] == [
        "job: command: holds what looks like a secret",
        "job: tags: holds what looks like a secret",
    ]
    assert token not in "".join(lines)
    # What documentation is full of may be in a command: a shell's own words for a variable look the same.
    assert faults(command=["sh", "-c", "run --password $(cat /run/x)"]) == []


@pytest.mark.parametrize("on", BACKENDS)
def test_secret_by_name_passes(on: str) -> None:
    assert faults(on, secrets={"WANDB_API_KEY": "wandb"}) == []


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"secrets": {"a b": "x"}}, "secrets=a b: is not a valid variable name; use letters, digits and _"),
        (
            {"secrets": {"A": "x"}, "env": {"A": "1"}},
            "secrets=A: env has this variable too; leave it out of one of them",
        ),
        *(
            (
                {"secrets": {"A": value}},
                "secrets.A: has to be the name of a secret, not its value; store it with `gpufleet secrets put`",
            )
            for value in ("", CERTAIN["ngc-api-key"].split("=")[1])
        ),
    ],
)
def test_faults_of_references(keys: dict[str, Any], line: str) -> None:
    assert faults(**keys) == [f"job: {line}"]
