"""`gpufleet ps` as a user types it: table, JSON, webhook, faults."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.fleet.webhook import notify

Eks = Callable[..., list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)


def ps(backend: Any, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["ps", "--backend", backend.url, *arguments])


def ago(days: int) -> str:
    return str(date.today() - timedelta(days=days))


@pytest.fixture
def fleet(backend: Any, eks: Eks) -> Any:
    """One in time, one past its end, one that is empty."""
    backend.put("dev", eks("dev", expires=ago(-9)))
    backend.put("old", eks("old", expires=ago(5), owner="bob"))
    backend.put("gone", [])
    return backend


def test_table_begins_with_what_has_expired(fleet: Any) -> None:
    found = ps(fleet)
    assert found.exit_code == 0, found.output
    lines = [line.split() for line in found.output.splitlines()]
    assert "3 stacks, 1 past their end" in found.output
    assert [line[0] for line in lines[2:6]] == ["old", "dev", "gone", "all"]
    old = lines[2]
    assert old[1:4] == ["bob", "vision", lines[3][3]]
    assert (old[5:9], old[9]) == ([ago(5), "(+5", "d)", "~8/12"], "0.10")
    assert lines[5][1:3] == ["0.20", "0.20"]
    assert "hush" not in found.output


def test_table_fits_80_columns(backend: Any, eks: Eks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    backend.put("aws-research-prod", eks("dev", expires=ago(5), owner="ana@example.com"))
    backend.put("other", eks("other", expires=ago(-5), owner="ana"))
    lines = ps(backend).output.splitlines()
    table = lines[1 : next(n for n, line in enumerate(lines) if line.startswith("--wide also shows: "))]
    assert len(table) == 4
    assert max(len(line.rstrip()) for line in table) <= 80
    assert table[0].split() == ["environment", "owner", "ends", "GPUs", "steady", "ceiling"]
    assert table[1].startswith("aws-research-prod ")
    assert "vision" in ps(backend, "--wide").output
    assert "vision" not in "".join(table)


def test_own_cluster_is_a_line_like_others(backend: Any, onprem: Eks) -> None:
    backend.put("lab", onprem("lab", owner="ana", project="vision", **{"expires-at": ago(5)}))
    lines = ps(backend).output.splitlines()
    assert "1 stack, 1 past their end" in lines[0]
    row = lines[2].split()
    assert (row[:3], row[5], row[8:10]) == (["lab", "ana", "vision"], ago(5), ["~10/10", "0.00"])


def test_json_says_the_same_and_no_secret(fleet: Any) -> None:
    found = ps(fleet, "--json")
    content = json.loads(found.output)
    assert content["backend"] == fleet.url.partition("?")[0]
    assert [each["stack"] for each in content["environments"]] == ["old", "dev", "gone"]
    old = content["environments"][0]
    assert old["gpus"] == {"now": None, "at_last_update": 8, "at_most": 12}
    assert old["usd_per_hour"]["floor"] == {"usd": 0.1, "complete": True, "unknown_lines": 0}
    assert (old["expired"], old["expires"], old["owner"]) == (True, ago(5), "bob")
    assert content["usd_per_hour"]["floor"]["usd"] == 0.2
    assert "hush" not in found.output


def test_stack_that_cannot_be_read_is_named_and_ends_with_1(fleet: Any) -> None:
    file = fleet.file("stacks/training/bad.json", "{}")
    found = ps(fleet)
    assert found.exit_code == 1
    assert f"Error: {file}: its state cannot be read: holds no checkpoint; see bad.json.bak" in found.output
    assert "not readable" in found.output
    assert "3 environments" not in found.output


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda each: each.update(inputs=["x"]), "inputs: must be an object or null, not a list"),
        (lambda each: each.update(outputs=["x"]), ""),
        (lambda each: each.update(type=None), ""),
        (lambda each: each.pop("type"), "needs the key type"),
        (lambda each: each.update(urn=7), ""),
        (lambda each: each.update(dependencies=7), "dependencies: must be a list or null, not a whole number"),
        (lambda each: each["inputs"].update(scalingConfig="x"), ""),
        (lambda each: each["inputs"].update(tags={"expires-at": {"a": []}, "owner": 3}), ""),
        (lambda each: each.update(created="9999-12-31T23:59:59-14:00"), ""),
    ],
)
def test_malformed_state_is_its_own_line_and_hides_no_other(fleet: Any, eks: Eks, change: Any, said: str) -> None:
    resources = eks("bad")
    change(resources[2])
    fleet.put("bad", resources)
    found = ps(fleet, "--json")
    assert isinstance(found.exception, SystemExit | None)
    content = {each["stack"]: each for each in json.loads(found.stdout)["environments"]}
    assert (content["dev"]["fault"], content["dev"]["owner"], content["old"]["expired"]) == (None, "ana", True)
    if said:
        assert found.exit_code == 1
        assert content["bad"]["fault"].startswith("organization/training/bad: its state makes no sense: ")
        assert said in content["bad"]["fault"]
        assert f"Error: {content['bad']['fault']}" in found.stderr


def test_last_day_of_all_is_an_end_like_others(fleet: Any, eks: Eks) -> None:
    # Until now it ended `ps` and `reap` for the whole backend.
    fleet.put("lasts", eks("lasts", expires="9999-12-31"))
    found = ps(fleet, "--json")
    (lasts,) = [each for each in json.loads(found.stdout)["environments"] if each["stack"] == "lasts"]
    assert (found.exit_code, lasts["expires"], lasts["expired"]) == (0, "9999-12-31", False)
    assert "9999-12-31 (" in ps(fleet).output


def test_whose_a_stack_is_and_why_that_is_not_certain(fleet: Any, eks: Eks) -> None:
    resources = eks("mixed")
    resources[2]["inputs"]["tags"] = resources[2]["inputs"]["tags"] | {"gpufleet-stack": "other/dev"}
    fleet.put("mixed", resources)
    stray = eks("stray", expires="never")
    stray[2]["inputs"]["tags"] = stray[2]["inputs"]["tags"] | {"expires-at": "2026-01-31"}
    fleet.put("stray", stray)
    found = {each["stack"]: each for each in json.loads(ps(fleet, "--json").stdout)["environments"]}
    assert found["dev"]["ownership"] == {
        "stack": "training/dev", "environment": "dev", "project": "vision", "owner": "ana"
    }  # fmt: skip
    assert found["dev"]["ownership_doubt"] is None
    doubt = "trainers: gpufleet-stack=other/dev, the mark of another stack"
    assert found["mixed"]["ownership_doubt"] == doubt
    assert (found["stray"]["expired"], found["stray"]["end_doubt"]) == (False, "expires-at=never on 1 of 2 resources")
    shown = ps(fleet).output
    assert f"training/mixed: not certainly gpufleet's: {doubt}" in shown
    assert "training/stray: does not certainly end: expires-at=never on 1 of 2 resources; the next `up`" in shown


def test_old_lock_is_told(fleet: Any) -> None:
    lock = {"pid": 4711, "username": "runner", "hostname": "ci-1", "timestamp": "2026-10-02T09:30:00Z"}
    fleet.file("locks/organization/training/old/0f.json", lock)
    since = "locked since 2026-10-02 09:30 UTC by runner@ci-1 (pid 4711)"
    wanted = f"training/old: {since}; if no engine is at work, `pulumi cancel --stack organization/training/old`"
    assert wanted in ps(fleet).output


def test_webhook_is_told_what_has_expired(fleet: Any, webhook: tuple[str, list[Any]]) -> None:
    url, told = webhook
    found = ps(fleet, "--notify", f"{url}/hook")
    assert found.exit_code == 0, found.output
    (body,) = told
    assert body["text"].splitlines() == [
        f"gpufleet: 2 environments, $0.20/h at the least, ${body['usd_per_hour']['ceiling']['usd']:.2f}/h at the most",
        "past its end by 5 d: training/old, of bob, $0.10/h at the least",
    ]
    assert [each["stack"] for each in body["expired"]] == ["old"]
    assert (body["hung"], body["faults"], body["environments"]) == ([], [], 2)


def test_webhook_that_refuses_is_one_line_without_its_secret(fleet: Any, webhook: tuple[str, list[Any]]) -> None:
    found = ps(fleet, "--notify", f"{webhook[0]}/no/T0PSECRET")
    assert found.exit_code == 1
    assert "Error: --notify: 127.0.0.1: the webhook answers 404; check its URL" in found.output
    assert "T0PSECRET" not in found.output


@pytest.mark.parametrize("url", ["hooks.example.com/T0PSECRET", "ftp://hooks.example.com/T0PSECRET", ""])
def test_url_that_is_none_is_said_without_it(url: str) -> None:
    with pytest.raises(UserError, match=r"^--notify: must be the URL of a webhook") as caught:
        notify(url, {})
    assert "T0PSECRET" not in str(caught.value)


def test_webhook_that_nobody_answers_for_is_said_without_its_path() -> None:
    with pytest.raises(UserError, match=r"^--notify: 127.0.0.1: the webhook cannot be reached: ") as caught:
        notify("http://127.0.0.1:9/services/T0PSECRET", {})
    assert "T0PSECRET" not in str(caught.value)
