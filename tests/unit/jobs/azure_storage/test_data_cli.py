"""`gpufleet data` as a user of an Azure environment types it: blobs against Azurite, files against a stand-in."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.jobs.azure_storage import clients
from gpufleet.jobs.azure_storage.paths import AzureStorage, StoragePath, azure_storage
from gpufleet.jobs.settings import read_settings
from tests.tools.azurite_server import ACCOUNT, Azurite, azurite
from tests.tools.fake_azure_batch import play
from tests.tools.fake_shares import HOST, FakeShares, Token

pytestmark = pytest.mark.azurite

Run = Callable[..., Result]
STORAGE = {
    "account_name": ACCOUNT,
    "blob_endpoint": f"https://{ACCOUNT}.blob.core.windows.net/",
    "file_endpoint": f"{HOST}/",
    "containers": ["scripts", "result"],
    "shares": ["logs"],
}
BATCH = {
    "account_endpoint": "trainbatch01.eastus.batch.azure.com",
    "pools": {"spot": {"types": ["Standard_NC4as_T4_v3"], "max": 10.0}},
    "storage": STORAGE,
}


def outputs(**storage: Any) -> dict[str, Any]:
    batch = {**BATCH, "storage": {**STORAGE, **storage}}
    return {"jobs": {"on": "azure-batch", "azure_batch": batch}}


@pytest.fixture(scope="module")
def account() -> Iterator[Azurite]:
    with azurite() as there:
        for name in ("scripts", "result"):
            there.service().create_container(name)
        yield there


@pytest.fixture
def run(account: Azurite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    play(monkeypatch, "GPUFLEET_AZURE_BLOB_ENDPOINT", account.endpoint)
    monkeypatch.setenv("AZURE_STORAGE_KEY", account.key)

    def invoke(*arguments: str, given: dict[str, Any] | None = None) -> Result:
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(outputs() if given is None else given))
        at = arguments.index("dev") + 1
        return CliRunner().invoke(main, [*arguments[:at], "--outputs", str(file), *arguments[at:]])

    return invoke


def test_script_goes_to_its_container_and_comes_back(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('hello')\n")
    said = run("data", "put", "dev", str(script), "scripts/run-1/train.py")
    assert (said.exit_code, said.output) == (
        0,
        "scripts/run-1/train.py: 15 bytes, 15 bytes sent\n1 files, 15 bytes sent, checksums right\n",
    )
    said = run("data", "put", "dev", str(script), "scripts/run-1/train.py")
    assert said.output.startswith("scripts/run-1/train.py: 15 bytes, was there already\n")
    said = run("data", "list", "dev", "scripts/run-1", "--json")
    assert [(each["path"], each["bytes"]) for each in json.loads(said.output)] == [("scripts/run-1/train.py", 15)]
    said = run("data", "get", "dev", "scripts/run-1", str(tmp_path / "back"), "--json")
    assert said.exit_code == 0
    found = json.loads(said.stdout)
    assert (found["environment"], found["transferred_bytes"]) == ("dev", 15)
    assert [each["bytes"] for each in found["files"]] == [15]
    assert (tmp_path / "back" / "train.py").read_text() == script.read_text()


def test_logs_are_in_a_file_share(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from azure.core.pipeline.transport import RequestsTransport

    shares, real = FakeShares(), clients.share_service
    shares.touch("logs/stdout.txt", b"epoch 1\n")
    monkeypatch.setattr(clients, "credential", Token)

    def played(storage: AzureStorage) -> Any:
        return real(storage, transport=RequestsTransport(session=shares.session(), session_owner=False))

    monkeypatch.setattr(clients, "share_service", played)
    said = run("data", "get", "dev", "logs", str(tmp_path / "logs"))
    assert (said.exit_code, (tmp_path / "logs" / "stdout.txt").read_text()) == (0, "epoch 1\n")
    # All that the environment has, where it has no volume.
    script = tmp_path / "a.py"
    script.write_text("")
    assert run("data", "put", "dev", str(script), "result").exit_code == 0
    said = run("data", "list", "dev")
    assert [line.split()[-1] for line in said.output.splitlines()][-1] == "logs/stdout.txt"
    assert "result/a.py" in said.output
    assert "stdout" not in run("data", "list", "dev", "--to", "blob").output


def test_without_rights_or_names_it_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    lines = {
        ("data", "put", "dev", str(tmp_path / "a"), "script/a"): (
            "dev: script/a: begins with no container or file share of traindata01; did you mean scripts? (use scripts, "
            "result or logs), or add it to gpufleet:files and run `pulumi up`"
        ),
        ("data", "get", "dev", "result/none", str(tmp_path)): ("result/none: file not found in the container result"),
        ("data", "get", "dev", "--to", "blob", "other/none", str(tmp_path)): (
            "other/none: there is no container other in traindata01 (the stack has scripts, result); add it to "
            "gpufleet:files and run `pulumi up`"
        ),
        ("data", "list", "dev", "result/../../x"): (
            "result/../../x: leaves its container; give a path below it, for instance scripts/train.py"
        ),
    }
    for arguments, line in lines.items():
        said = run(*arguments)
        assert (said.exit_code, said.output) == (1, f"Error: {line}\n"), arguments


def test_environment_without_a_storage_account_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    given = {"kubeconfig": "{}", "jobs": {"namespace": "team"}}
    said = run("data", "put", "dev", "--to", "blob", str(tmp_path / "a"), "scripts/a", given=given)
    assert said.output == (
        "Error: dev: --to blob: the stack's outputs have no storage account (jobs.azure_batch.storage); leave it out\n"
    )


@pytest.mark.parametrize(
    "verb", [("put", "dev", "README.md", "scrips/a"), ("get", "dev", "results", "."), ("list", "dev", "log")]
)
def test_misspelt_container_is_not_taken_for_a_directory_on_the_volume(run: Run, verb: tuple[str, ...]) -> None:
    given = outputs()
    given["jobs"] |= {"on": "kubernetes", "namespace": "team", "volume_claim": "shared"}
    said = run("data", *verb, given=given | {"kubeconfig": "{}"})
    meant = {"put": "scripts", "get": "result", "list": "logs"}[verb[0]]
    assert said.exit_code == 1
    assert (
        f"begins with no container or file share of traindata01; did you mean {meant}? (--to volume for " in said.output
    )


def test_account_of_a_rehearsal_is_not_asked_elsewhere(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPUFLEET_AZURE_BLOB_ENDPOINT")
    given = outputs(blob_endpoint="https://traindata01.blob.core.rehearsal.invalid/")
    said = run("data", "list", "dev", "scripts", given=given)
    assert said.output == (
        "Error: dev: the storage account traindata01 is a rehearsal's; run `gpufleet rehearse dev -- gpufleet ...`\n"
    )
    given = outputs(file_endpoint="https://traindata01.file.core.rehearsal.invalid/")
    assert run("data", "list", "dev", "logs", given=given).output == (
        "Error: dev: the storage account traindata01 is a rehearsal's; a rehearsal plays its containers, and no file "
        "shares\n"
    )


def told(**storage: Any) -> AzureStorage:
    found = azure_storage(outputs(**storage)["jobs"], "dev")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("remote", "kind", "place"),
    [
        ("scripts/a/b.py", None, StoragePath("blob", "scripts", "a/b.py")),
        ("/result", None, StoragePath("blob", "result", "")),
        ("logs/x", None, StoragePath("files", "logs", "x")),
        ("data/x", None, None),
        ("data/x", "blob", StoragePath("blob", "data", "x")),
        (".", None, None),
    ],
)
def test_first_part_of_a_path_says_where_it_is(remote: str, kind: Any, place: StoragePath | None) -> None:
    assert told().resolve(remote, kind) == place


def test_name_of_a_container_and_a_share_wants_a_word() -> None:
    both = told(containers=["logs"])
    with pytest.raises(UserError, match=r"^logs/x: logs is a container and a file share; say which with --to blob or"):
        both.resolve("logs/x")
    assert both.resolve("logs/x", "files") == StoragePath("files", "logs", "x")


def test_storage_is_known_whatever_runs_the_jobs() -> None:
    jobs = {**outputs()["jobs"], "on": "kubernetes"}
    settings = read_settings({"kubeconfig": "{}", "jobs": jobs}, "dev")
    assert settings.storage == told()
    assert settings.azure_batch is None
