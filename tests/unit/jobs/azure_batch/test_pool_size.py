"""`gpufleet pool resize|autoscale`, to a stand-in of Azure Batch that evaluates formulas."""

import json
from typing import Any

import pytest

from gpufleet.azure.autoscale_formula import autoscale_formula
from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.pool_size import PoolSize
from gpufleet.jobs.settings import JobSettings
from tests.tools.batch_account import BatchRejection, FakeBatch
from tests.tools.fake_account import Clock
from tests.tools.fake_azure_batch import outputs

UNTIL = "a `pulumi up` that changes the pool makes it what the configuration says"


def size(settings: JobSettings, name: str, clock: Clock) -> PoolSize:
    assert settings.azure_batch is not None
    azure, pool = AzureBatchClient(settings.azure_batch, retries=0), settings.azure_batch.pools[name]
    return PoolSize(azure, "dev", name, pool, settings.pools[name].max, clock=clock, sleep=clock.sleep)


def test_resize_of_a_spot_pool_ends_its_formula(here: FakeBatch, run: Any) -> None:
    done = run("pool", "resize", "dev", "spot", "2")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == ["spot: its formula is off", "spot: 0 nodes, 2 wanted", "spot: 2 nodes"]
    price = "spot: 2 of Standard_NC64as_T4_v3 cost 8.70 USD an hour (list price; Spot is cheaper)"
    assert done.stderr.splitlines() == [price, f"spot: {UNTIL}"]
    assert here.bodies("POST", "/resize") == [
        {"targetLowPriorityNodes": 2, "targetDedicatedNodes": 0, "nodeDeallocationOption": "taskcompletion"}
    ]
    assert not here.pools["spot-1"]["enableAutoScale"]


def test_resize_to_0(here: FakeBatch, run: Any) -> None:
    here.pools["fixed-1"] |= {"currentDedicatedNodes": 2, "targetDedicatedNodes": 2}
    done = run("pool", "resize", "dev", "fixed", "0")
    assert done.stdout.splitlines() == ["fixed: 2 nodes, 0 wanted", "fixed: 0 nodes"]
    assert done.stderr.splitlines() == [f"fixed: {UNTIL}"]
    assert here.bodies("POST", "/resize")[0]["targetDedicatedNodes"] == 0
    assert here.bodies("POST", "/disableautoscale") == []


@pytest.mark.parametrize(
    ("words", "size"),
    [
        (("resize", "dev", "spot", "2"), {"autoscale": False, "min": 2, "max": 2}),
        (("autoscale", "dev", "spot", "--min", "1", "--max", "4"), {"autoscale": True, "min": 1, "max": 4}),
    ],
)
def test_as_json(here: FakeBatch, run: Any, words: tuple[str, ...], size: dict[str, Any]) -> None:
    done = run("pool", *words, "--json")
    assert done.exit_code == 0, done.output
    expected = {"schema": 1, "environment": "dev", "pool": "spot", **size}
    found = json.loads(done.stdout)
    assert found.pop("usd_per_hour_at_max") == pytest.approx(4.352 * size["max"])
    assert found == expected
    assert done.stderr.splitlines()[-1] == f"spot: {UNTIL}"


def test_resize_waits_for_nodes_and_for_an_earlier_resize(here: FakeBatch, settings: JobSettings) -> None:
    here.pools["fixed-1"]["allocationState"] = "resizing"
    here.steady_after = 3
    clock = Clock()
    assert list(size(settings, "fixed", clock).resize(1)) == [
        "fixed: is being resized already; waiting for that",
        "fixed: 0 nodes, 1 wanted",
        "fixed: 1 nodes",
    ]
    assert clock.now > 0


def test_resize_that_takes_too_long_is_said(here: FakeBatch, settings: JobSettings) -> None:
    here.pools["fixed-1"] |= {"currentDedicatedNodes": 2, "targetDedicatedNodes": 2}
    here.steady_after = 1000
    told = list(size(settings, "fixed", Clock()).resize(0, minutes=2))
    assert told[-1] == "fixed: 2 of 0 nodes after 2 min, and still being resized; nodes go when their tasks have ended"
    with pytest.raises(UserError, match="fixed: is still being resized after 2 min; run the same command again"):
        list(size(settings, "fixed", Clock()).resize(1, minutes=2))


def test_quota_that_is_used_up(here: FakeBatch, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {
        "code": "AccountCoreQuotaReached",
        "message": "The specified account has reached its core quota.",
        "values": [{"name": "Quota", "value": "25"}],
    }
    settle = FakeBatch.settle

    def without_cores(self: FakeBatch, pool: dict[str, Any]) -> None:
        pool["resizeErrors"] = [error]
        settle(self, pool)

    monkeypatch.setattr(FakeBatch, "settle", without_cores)
    done = run("pool", "resize", "dev", "fixed", "2")
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: fixed: 0 of 2 nodes: quota of dedicated cores is used up: AccountCoreQuotaReached: The specified "
        "account has reached its core quota. (Quota: 25); raise it (the Batch account's Quotas), or use fewer nodes\n",
    )


@pytest.mark.parametrize("was_auto", [True, False])
def test_autoscale_from_0_to_10(here: FakeBatch, run: Any, was_auto: bool) -> None:
    pool = here.pools["spot-1"]
    pool["enableAutoScale"] = was_auto
    done = run("pool", "autoscale", "dev", "spot", "--min", "0", "--max", "10")
    assert done.exit_code == 0, done.output
    assert done.stdout == "spot: a formula sets 0 to 10 nodes, every 5 minutes; now it says 0\n"
    assert done.stderr.splitlines() == [
        "spot: 10 of Standard_NC64as_T4_v3 cost up to 43.52 USD an hour (list price; Spot is cheaper)",
        f"spot: {UNTIL}",
    ]
    formula = autoscale_formula(min=0, max=10, spot=True, task_nodes=4)
    assert pool["autoScaleFormula"] == formula
    asked = [path.rpartition("/")[2] for method, path, _ in here.asked if method == "POST"]
    assert asked == ["evaluateautoscale", "enableautoscale"] if was_auto else ["enableautoscale"]
    sent = {"autoScaleFormula": formula, "autoScaleEvaluationInterval": "PT5M"}
    assert here.bodies("POST", "/enableautoscale") == [sent]


def test_formula_that_fails_changes_nothing(here: FakeBatch, settings: JobSettings) -> None:
    before = dict(here.pools["spot-1"])
    with pytest.raises(UserError, match="spot: the formula fails, nothing is changed: AutoScalingFormulaSyntaxError: "):
        list(size(settings, "spot", Clock()).autoscale("$TargetDedicatedNodes = nonsense;", 0, 1))
    assert here.pools["spot-1"] == before


def test_formulas_in_a_row(here: FakeBatch, run: Any) -> None:
    def refuse(method: str, path: str) -> None:
        if path.endswith("/enableautoscale"):
            raise BatchRejection(503, "TooManyEnableAutoScaleRequests")

    here.refusals.append(refuse)
    done = run("pool", "autoscale", "dev", "spot", "--max", "10")
    assert done.stderr == ("Error: spot: Azure Batch takes a formula every at most 30 s; run the same command again\n")


MISTAKES = [
    (["resize", "dev", "spot", "11"], "spot: nodes=11: the stack allows at most 10, and budgets and quotas were"),
    (["resize", "dev", "none", "1"], "dev: pool=none: no such pool; use spot or fixed"),
    (["autoscale", "dev", "spot", "--max", "11"], "spot: max=11: the stack allows at most 10"),
    (["autoscale", "dev", "spot", "--max", "0"], "autoscale: max=0: "),
    (["autoscale", "dev", "spot", "--min", "5", "--max", "4"], "autoscale: min=5: "),
    (["autoscale", "dev", "spot", "--min", "-1", "--max", "4"], "autoscale: min=-1: "),
    (["autoscale", "dev", "spot", "--max", "3"], "autoscale: task_nodes=4: is above max=3: such a task waits forever"),
]


@pytest.mark.parametrize(("words", "line"), MISTAKES, ids=lambda each: str(each)[:40])
def test_mistake_is_one_line(here: FakeBatch, run: Any, words: list[str], line: str) -> None:
    done = run("pool", *words)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {line}"), done.stderr
    assert [method for method, _, _ in here.asked if method != "GET"] == []


def test_less_than_none(here: FakeBatch, run: Any) -> None:
    assert run("pool", "resize", "dev", "spot", "--", "-1").stderr == "Error: spot: nodes=-1: use 0 or more\n"


def test_pool_that_is_gone(here: FakeBatch, run: Any) -> None:
    here.pools.pop("spot-1")
    assert run("pool", "resize", "dev", "spot", "1").stderr == (
        "Error: dev: pool=spot: pool not found in the Batch account (spot-1); `pulumi up` makes it\n"
    )


def test_environment_without_azure_batch(here: FakeBatch, run: Any) -> None:
    given = outputs()
    del given["jobs"]["azure_batch"]
    line = run("pool", "resize", "dev", "spot", "1", given=given).stderr
    assert line.startswith("Error: dev: the stack's outputs have no Azure Batch (jobs.azure_batch.account_endpoint)")
