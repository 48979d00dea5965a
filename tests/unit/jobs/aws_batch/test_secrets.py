"""Secret variables on AWS Batch: stored in Secrets Manager, and named by a revision of the job definition."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from tests.tools.fake_aws import IMAGE, FakeAws, outputs

CANARY = "canary-5f3a"
TRAIN = ("--", "python3", "train.py")


@pytest.fixture
def put(here: FakeAws, quick: None, tmp_path: Any) -> Any:
    def invoke(name: str, value: str, *words: str) -> Result:
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(outputs()))
        return CliRunner().invoke(main, ["secrets", "put", "dev", name, "--outputs", str(file), *words], input=value)

    return invoke


def stored(here: FakeAws) -> str:
    return str(here.client("secretsmanager").get_secret_value(SecretId="gpufleet/dev/wandb")["SecretString"])


def test_put_makes_a_secret_of_the_environment_and_replaces_its_value(here: FakeAws, put: Any) -> None:
    done = put("wandb", f"{CANARY}\n")
    where = "secret gpufleet/dev/wandb of Secrets Manager in us-east-1"
    assert (done.exit_code, done.stdout) == (0, f"wandb: stored as {where}; use it with --secret VARIABLE=wandb\n"), (
        done
    )
    assert stored(here) == CANARY
    described = here.client("secretsmanager").describe_secret(SecretId="gpufleet/dev/wandb")
    tags = {each["Key"]: each["Value"] for each in described["Tags"]}
    assert tags == {"environment": "dev", "project": "llm", "user": "LAB-ana"}
    done = put("wandb", "another", "--json")
    assert json.loads(done.stdout) == {"schema": 1, "environment": "dev", "name": "wandb", "stored_as": where}
    assert "another" not in done.output
    assert stored(here) == "another"


@pytest.mark.parametrize("nodes", [1, 2])
def test_job_runs_a_revision_that_names_it(here: FakeAws, put: Any, run: Any, nodes: int) -> None:
    put("wandb", CANARY)
    arn = here.client("secretsmanager").describe_secret(SecretId="gpufleet/dev/wandb")["ARN"]
    parameter = "arn:aws:ssm:us-east-1:123456789012:parameter/gpufleet/dev/key"
    here.asked.clear()
    options = [
        "--image",
        IMAGE,
        "--nodes",
        str(nodes),
        "--secret",
        "WANDB_API_KEY=wandb",
        "--secret",
        f"DATA={parameter}",
    ]
    for name in ("one", "two"):
        done = run("jobs", "submit", "dev", "--name", name, *options, *TRAIN)
        assert done.exit_code == 0, done.output
        assert CANARY not in done.output
    [registered] = here.bodies("registerjobdefinition")
    several = registered.get("nodeProperties")
    container = several["nodeRangeProperties"][0]["container"] if several else registered["containerProperties"]
    assert container["secrets"] == [
        {"name": "DATA", "valueFrom": parameter},
        {"name": "WANDB_API_KEY", "valueFrom": arn},
    ]
    # The definition has DATA as a plain variable, which ECS would refuse beside the secret.
    assert container["environment"] == []
    assert CANARY.encode() not in b"".join(body for _, _, body in here.asked)


def test_faults(here: FakeAws, run: Any) -> None:
    done = run(
        "jobs", "submit", "dev", "--image", IMAGE, "--secret", "A=none", "--secret", "B=arn:aws:s3:::bucket", *TRAIN
    )
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "Error: secrets.A: there is no secret gpufleet/dev/none in us-east-1; store it with "
        "`gpufleet secrets put dev none`",
        "secrets.B: use the ARN of a secret of Secrets Manager or of an SSM parameter",
    ]
    assert here.bodies("submitjob") == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("wandb", "\n", "standard input is empty; write `gpufleet secrets put ... < FILE`"),
        ("wandb", "a" * 25_601, "must be text of at most 25,600 bytes"),
        ("WANDB", "x", "name=WANDB: use lower-case letters, digits and - between them, at most 63"),
    ],
)
def test_what_is_not_stored(put: Any, here: FakeAws, name: str, value: str, said: str) -> None:
    done = put(name, value)
    assert done.exit_code == 1
    assert done.stderr.strip().endswith(said)
    assert [each for each in here.asked if each[0] == "secretsmanager"] == []
