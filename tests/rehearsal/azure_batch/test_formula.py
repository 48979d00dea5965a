"""The stand-in for Azure's evaluation refuses what Azure's documentation does not know."""

import pytest

from gpufleet_rehearsal.azure_batch.formula import InsufficientSampleData, Samples, evaluate
from gpufleet_rehearsal.azure_batch.formula_values import FormulaError

NODES = {"$CurrentDedicatedNodes": 4.0, "$CurrentLowPriorityNodes": 0.0}
TARGETS = {"$TargetDedicatedNodes": 5.0, "$TargetLowPriorityNodes": 0.0}
FIVE = [(float(second), second / 30) for second in range(30, 601, 30)]


def target(expression, samples=None):
    """Of $PendingTasks there are the values 1 to 20, one each 30 s; those of the last minute have not come."""
    samples = samples or Samples({"$PendingTasks": FIVE}, now=600)
    return evaluate(f"$TargetDedicatedNodes = {expression};", samples, NODES, TARGETS).targets["$TargetDedicatedNodes"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2 + 3 * 4 - 6 / 2", 11),
        ("2.9", 2),
        ("$CurrentDedicatedNodes * 1.5", 6),
        ("$TargetDedicatedNodes / 2 + 0.5", 3),
        ("1 < 2 && !(3 == 4) ? 7 : 8", 7),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("max($PendingTasks.GetSample(TimeInterval_Minute * 5))", 18),
        ("len($PendingTasks.GetSample(5 * TimeInterval_Minute))", 8),
        ("$PendingTasks.GetSamplePercent(TimeInterval_Minute * 5)", 80),
        ("val($PendingTasks.GetSample(1), 0)", 18),
        ("sum($PendingTasks.GetSample(TimeInterval_Minute, 2 * TimeInterval_Minute))", 17 + 18),
        ("avg(1, $PendingTasks.GetSample(2) * 2, 1)", (1 + 34 + 36 + 1) // 4),
        ("$RunningTasks.GetSamplePercent(TimeInterval_Minute) < 70 ? 3 : max($RunningTasks.GetSample(1))", 3),
        ("max(1, /* of */ 2) // two", None),
    ],
)
def test_what_the_documentation_shows(expression, expected):
    if expected is None:
        expression, expected = expression + "\n", 2
    assert target(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "unknown",
        "$UnknownTasks",
        "maximum(1, 2)",
        "$PendingTasks",
        "$PendingTasks + 1",
        "$PendingTasks.GetSamples(1)",
        "1 +",
        "(1",
        "1 2",
        "1 / 0",
        "-1",
        "min()",
        "5 # 3",
        "TimeInterval_Minute",
        "TimeInterval_Minute * TimeInterval_Minute",
        "TimeInterval_Minute < 5",
        "$PendingTasks.GetSample(2)",
        "$PendingTasks.GetSample(2) < 3 ? 1 : 2",
        "sum(3 * $PendingTasks.GetSample(2))",
        "sum($PendingTasks.GetSample(2) + $PendingTasks.GetSample(3))",
        "val($PendingTasks.GetSample(2), 2)",
        "max($PendingTasks.GetSample(TimeInterval_Zero))",
        "taskcompletion",
        '"3"',
    ],
)
def test_what_is_in_no_table(expression):
    with pytest.raises(FormulaError):
        target(expression)


@pytest.mark.parametrize(
    "formula",
    [
        "$PendingTasks = 1;",
        "$CurrentDedicatedNodes = 1;",
        "max = 1;",
        "TimeInterval_Minute = 1;",
        "a = $PendingTasks;",
        "$NodeDeallocationOption = never;",
        "$NodeDeallocationOption = 1;",
        "a = 1 b = 2;",
        "a == 1;",
        "a = 1;" * 101,
        "a = 1; " + "/" * 2 + "x" * 8192,
    ],
)
def test_illegal_statements(formula):
    with pytest.raises(FormulaError):
        evaluate(formula, Samples(), NODES, TARGETS)


def test_samples_over_a_time_want_70_percent_unless_told_otherwise():
    """The published 3 minutes: 4 of 6 samples have come."""
    with pytest.raises(InsufficientSampleData, match=r"wanted 70%, received 66\.6667%"):
        target("max($PendingTasks.GetSample(180 * TimeInterval_Second))")
    assert target("max($PendingTasks.GetSample(180 * TimeInterval_Second, 60))") == 18


def test_the_last_statement_needs_no_semicolon():
    assert evaluate("a = 3; $TargetDedicatedNodes = a", Samples(), NODES, TARGETS).targets == {
        "$TargetDedicatedNodes": 3
    }
