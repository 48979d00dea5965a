"""Secret variables on Azure Batch: in a key vault, which the node reads by its identity before the command runs."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.jobs.azure_batch.entrypoint import VaultSecrets, application_command
from gpufleet.jobs.azure_batch.login import BATCH_ENDPOINT, KEY_VAULT_ENDPOINT
from gpufleet_rehearsal.loopback import LoopbackHandler, serve
from tests.tools.batch_account import FakeBatch
from tests.tools.fake_azure_batch import IDENTITY, outputs, play

CANARY = "canary-5f3a"
VAULT = "https://lab.vault.azure.net"
TRAIN = ("--", "python3", "train.py")


@dataclass
class Node:
    """A node's metadata and a key vault. secrets: by name. busy: how many requests it answers with 503 first."""

    secrets: dict[str, str] = field(default_factory=dict)
    busy: int = 0
    url: str = ""
    asked: list[str] = field(default_factory=list)


@contextmanager
def played(node: Node) -> Iterator[Node]:
    """As the real ones: tokens for who says Metadata: true, secrets for who has the token of a vault.

    Sources: learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token,
    learn.microsoft.com/rest/api/keyvault/secrets.
    """

    class Handler(LoopbackHandler):
        def answer(self, sent: bytes) -> None:
            node.asked.append(self.path)
            status, content = self.answered(sent)
            self.send(status, {"Content-Type": "application/json"}, json.dumps(content).encode())

        def answered(self, sent: bytes) -> tuple[int, Any]:
            url = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            if node.busy:
                node.busy -= 1
                return 503, {}
            if url.path == "/token":
                cloud = f"https://{self.headers['Host'].partition('.')[2]}"
                whole = query == {"api-version": "2018-02-01", "resource": cloud, "msi_res_id": IDENTITY}
                return (200, {"access_token": "T"}) if whole and self.headers["Metadata"] == "true" else (400, {})
            name = url.path.rpartition("/secrets/")[2]
            if query != {"api-version": "7.4"}:
                return 400, {}
            if self.command == "PUT":
                node.secrets[name] = json.loads(sent)["value"]
                return 200, {"id": name}
            if self.headers["Authorization"] != "Bearer T":
                return 401, {}
            return (200, {"value": node.secrets[name]}) if name in node.secrets else (404, {})

    with serve(Handler) as node.url:
        yield node


def run_task(node: Node, names: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """The command line of a task of one process, on a node."""
    show = ["python3", "-c", "import os; print(os.environ['KEY'])"]
    secrets = VaultSecrets(names, node.url, IDENTITY, f"{node.url}/token")
    words = shlex.split(application_command(show, 1, secrets=secrets))
    assert CANARY not in " ".join(words)
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "http_proxy": "http://127.0.0.1:9"}
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=60)


def test_node_reads_it_by_its_identity_also_when_the_vault_is_busy() -> None:
    with played(Node({"wandb": CANARY}, busy=1)) as node:
        done = run_task(node, {"KEY": "wandb"})
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{CANARY}\n", "")
    assert len(node.asked) == 3


def test_missing_secret_ends_the_task_with_a_line() -> None:
    with played(Node()) as node:
        done = run_task(node, {"KEY": "wandb"})
    assert done.returncode == 1
    assert done.stderr == (
        f"gpufleet: secret KEY: {node.url}/secrets/wandb?api-version=7.4: HTTP Error 404: Not Found; is it there, and "
        "has the node's identity Key Vault Secrets User?\n"
    )


def test_ranks_on_other_nodes_get_them_by_name() -> None:
    from gpufleet.jobs.azure_batch import entrypoint

    given: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entrypoint, "_line", lambda plan, launcher, _: given.append(plan) or "")
        application_command(["x"], 4, secrets=VaultSecrets({"B": "b", "A": "a"}, VAULT, IDENTITY))
    words = given[0]["mpirun"]
    assert [words[at + 1] for at, word in enumerate(words) if word == "-x"][-2:] == ["A", "B"]


def with_vault() -> dict[str, Any]:
    told = outputs()
    told["jobs"]["azure_batch"]["key_vault"] = f"{VAULT}/"
    return told


def test_task_names_it_and_never_holds_it(here: FakeBatch, run: Any) -> None:
    options = ("--pool", "spot", "--image", "training:base", "--name", "train", "--secret", "KEY=wandb")
    done = run("jobs", "submit", "dev", *options, *TRAIN, given=with_vault())
    assert done.exit_code == 0, done.output
    [task] = here.bodies("POST", "/tasks")
    assert task["environmentSettings"] == [{"name": "GPUFLEET_JOB", "value": "train"}]


@pytest.mark.parametrize(
    ("given", "reference", "line"),
    [
        (
            outputs(),
            "wandb",
            "train: secrets: the environment has no key vault for secrets of jobs; name one in "
            "gpufleet:batch.key_vault_id and run `pulumi up -s dev`",
        ),
        (
            with_vault(),
            "a/b",
            f"train: secrets.KEY: use the name of a secret of {VAULT}: letters, digits and -",
        ),
    ],
)
def test_faults(run: Any, here: FakeBatch, given: dict[str, Any], reference: str, line: str) -> None:
    options = ("--pool", "spot", "--image", "training:base", "--name", "train", "--secret", f"KEY={reference}")
    done = run("jobs", "submit", "dev", *options, *TRAIN, given=given)
    assert (done.exit_code, done.stderr) == (1, f"Error: {line}\n")


def test_put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(with_vault()))
    with played(Node()) as node:
        play(monkeypatch, BATCH_ENDPOINT, node.url)
        monkeypatch.setenv(KEY_VAULT_ENDPOINT, node.url)
        done = CliRunner().invoke(main, ["secrets", "put", "dev", "wandb", "--outputs", str(file)], input=CANARY)
    said = f"wandb: stored as secret wandb of {VAULT}; use it with --secret VARIABLE=wandb\n"
    assert (done.exit_code, done.output) == (0, said)
    assert node.secrets == {"wandb": CANARY}
    assert node.asked == ["/lab.vault.azure.net/secrets/wandb?api-version=7.4"]
