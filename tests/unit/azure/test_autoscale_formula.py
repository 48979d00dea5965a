"""The autoscale formula of an Azure Batch pool, evaluated over days of load."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufleet.azure.autoscale_formula import autoscale_formula
from gpufleet.errors import UserError
from gpufleet.plan.azure.autoscale_formula import Bounds, formula_bounds
from gpufleet.rules.azure.batch_scaling import formula_length, formula_samples, formula_target
from gpufleet.rules.rule import Status
from gpufleet_rehearsal.azure_batch.formula import Samples, evaluate
from tests.unit.azure.pool_simulation import Pool, Simulation, Task, day_of_tasks

HOURS = 3600
MOST = 10
NONE = {"$CurrentDedicatedNodes": 0.0, "$CurrentLowPriorityNodes": 0.0}


def a_day(seed, task_nodes, formula=None, **terms):
    formula = formula or autoscale_formula(max=MOST, spot=True, task_nodes=task_nodes)
    pool = Pool(formula, MOST, seed=seed, **terms)
    return Simulation(pool, day_of_tasks(seed, task_nodes)).run(36 * HOURS)


@pytest.mark.slow
@pytest.mark.parametrize("counts_instances", [False, True])
@pytest.mark.parametrize("minutes", [5, 10, 15])
@pytest.mark.parametrize("task_nodes", [1, 4, MOST])
def test_a_day(task_nodes, minutes, counts_instances):
    for seed in (1, 2):
        day = a_day(seed, task_nodes, interval=60 * minutes, counts_instances=counts_instances)
        assert not day.faults
        assert day.highest <= MOST
        assert day.emptied is not None


@pytest.mark.slow
@pytest.mark.parametrize(("task_nodes", "evictions"), [(1, 0.004), (4, 0.001)])
def test_a_day_with_evictions(task_nodes, evictions):
    days = [a_day(seed, task_nodes, evictions=evictions) for seed in (1, 2, 3)]
    assert sum(day.evicted for day in days) > 10
    for day in days:
        assert not day.faults
        assert day.emptied is not None


def test_the_load_fills_the_pool_and_leaves_it_idle_at_times():
    """Otherwise the days above would prove little."""
    day = a_day(1, 4)
    assert day.highest == MOST
    assert 0.05 < day.node_seconds / (36 * HOURS * MOST) < 0.8


@pytest.mark.parametrize(
    ("old", "new", "fault", "task_nodes"),
    [
        ("min(mostNodes, max(wantedNodes, keptNodes))", "max(wantedNodes, keptNodes)", "above max", 4),
        ("taskcompletion", "requeue", "taken", 4),
        ("stayed * taskNodes", "stayed", "too few for all", 4),
        ("max($PendingTasks", "avg($PendingTasks", "too few for all", 1),
        ("$PendingTasks", "$ActiveTasks", "below running", 1),
        ("max(wantedNodes, keptNodes)", "wantedNodes", "below running", 4),
        ("waiting + min(nodesNow, stayed * taskNodes)", "waiting", "too few for all", 4),
        ("wantedNodes = growthPercent < 30 ? 0 : ", "wantedNodes = ", "evaluation failed", 1),
        ("(growthTime, 30)", "(TimeInterval_Second * 90, 70)", "evaluation failed", 1),
        ("max(leastNodes,", "max(leastNodes + 1,", "not idle", 1),
        ("idlePercent < 70 ? $Target", "idlePercent < 101 ? $Target", "not idle", 1),
        ("$PendingTasks.", "$PendingJobs.", "evaluation failed", 1),
        ("TimeInterval_Minute * 15;", "TimeInterval_Minute * 15", "evaluation failed", 1),
    ],
)
def test_a_worse_formula_is_caught(old, new, fault, task_nodes):
    formula = autoscale_formula(max=MOST, spot=True, task_nodes=task_nodes)
    assert old in formula
    worse = formula.replace(old, new)
    assert any(fault in a_day(seed, task_nodes, worse).faults for seed in (1, 2, 3))


def test_the_formula_for_single_tasks_is_not_enough_for_multi_instance_ones():
    """The published one too: a task that runs may count as one."""
    faults = a_day(1, 4, autoscale_formula(max=MOST, spot=True)).faults
    assert {"below running", "too few for all"} <= set(faults)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.data())
def test_any_load(data):
    most = data.draw(st.integers(1, 12))
    least = data.draw(st.integers(0, most))
    task_nodes = data.draw(st.integers(1, most))
    idle, spot = data.draw(st.integers(5, 60)), data.draw(st.booleans())
    one = st.builds(
        Task, st.integers(0, 4 * HOURS), st.integers(1, task_nodes), st.integers(1, 90).map(lambda each: each * 60)
    )
    tasks = data.draw(st.lists(one, max_size=8))
    formula = autoscale_formula(min=least, max=most, spot=spot, idle_minutes=idle, task_nodes=task_nodes)
    pool = Pool(
        formula,
        most,
        least,
        spot,
        idle * 60,
        data.draw(st.sampled_from([300, 600, 900])),
        data.draw(st.booleans()),
        missing=data.draw(st.sampled_from([0.0, 0.05])),
        seed=data.draw(st.integers(0, 1000)),
    )
    day = Simulation(pool, tasks).run(24 * HOURS)
    assert not day.faults
    assert day.emptied is not None or not tasks


@pytest.mark.parametrize("task_nodes", [1, 4])
def test_without_samples_the_pool_stays_and_is_never_below_min(task_nodes):
    formula = autoscale_formula(min=2, max=MOST, spot=True, task_nodes=task_nodes)
    for before, after in ((0, 2), (7, 7), (12, MOST)):
        targets = {"$TargetDedicatedNodes": 0.0, "$TargetLowPriorityNodes": float(before)}
        result = evaluate(formula, Samples(now=5000), {**NONE, "$CurrentLowPriorityNodes": float(before)}, targets)
        assert result.targets == {"$TargetLowPriorityNodes": after, "$TargetDedicatedNodes": 0}
        assert result.deallocation == "taskcompletion"


def test_a_running_task_keeps_its_nodes_when_the_newest_samples_are_missing():
    """Growth sees 2 of 10 samples, idleness 22 of 30."""
    formula = autoscale_formula(max=MOST, spot=True, task_nodes=4)
    seen = [(float(second), 1.0) for second in range(0, 5000 - 230, 30)]
    recorded = {"$ActiveTasks": [(second, 0.0) for second, _ in seen], "$RunningTasks": seen, "$PendingTasks": seen}
    nodes = {**NONE, "$CurrentLowPriorityNodes": 8.0}
    targets = {"$TargetDedicatedNodes": 0.0, "$TargetLowPriorityNodes": 8.0}
    worse = formula.replace("runningBefore * taskNodes", "runningBefore")
    assert evaluate(formula, Samples(recorded, 5000), nodes, targets).targets["$TargetLowPriorityNodes"] == 4
    assert evaluate(worse, Samples(recorded, 5000), nodes, targets).targets["$TargetLowPriorityNodes"] == 1


def test_dedicated_nodes_are_the_others():
    formula = autoscale_formula(max=MOST, task_nodes=4)
    assert formula_bounds(formula) == {"dedicated": Bounds(0, MOST), "spot": Bounds(0, 0)}


@pytest.mark.parametrize("spot", [True, False])
def test_nodes_of_the_other_kind_go(spot):
    """The pool was of the other kind, and its nodes are not counted as those of this one."""
    formula = autoscale_formula(max=MOST, spot=spot)
    before = {"$TargetDedicatedNodes": 4.0, "$TargetLowPriorityNodes": 4.0}
    other = "$TargetDedicatedNodes" if spot else "$TargetLowPriorityNodes"
    assert evaluate(formula, Samples(now=5000), {**NONE, "$CurrentDedicatedNodes": 4.0}, before).targets[other] == 0


@pytest.mark.parametrize("task_nodes", [1, 4])
def test_what_reads_formulas_reads_this_one(task_nodes):
    formula = autoscale_formula(min=1, max=MOST, spot=True, task_nodes=task_nodes)
    assert formula_bounds(formula) == {"spot": Bounds(1, MOST), "dedicated": Bounds(0, 0)}
    for rule in (formula_length, formula_samples, formula_target):
        assert rule(formula=formula).status is Status.PASS


def test_illegal_words_make_no_formula():
    with pytest.raises(UserError) as caught:
        autoscale_formula(min=5, max=3, task_nodes=4, idle_minutes=2)
    lines = str(caught.value).splitlines()
    assert [line.rpartition("[")[2] for line in lines] == [
        "azure-batch-idle-window]",
        "any-count-min-max]",
        "azure-batch-task-fits]",
    ]
    assert lines[1].startswith("autoscale: min=5: is above max=3")
