"""Bounds of the nodes that an autoscale formula of Azure Batch asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.plan.azure.autoscale_formula import Bounds, formula_bounds

# The pattern of learn.microsoft.com/azure/batch/batch-automatic-scaling: constants, then min() of samples.
TASKS = """
begin = 1;  // nodes until there are samples
limit = 25;
percent = $PendingTasks.GetSamplePercent(180 * TimeInterval_Second);
tasks = percent < 70 ? begin : avg($PendingTasks.GetSample(180 * TimeInterval_Second));
$TargetDedicatedNodes=min(limit, tasks);
$NodeDeallocationOption = taskcompletion;
"""


@pytest.mark.parametrize(
    ("expression", "least", "most"),
    [
        ("4", 4, 4),
        ("2.5", 2.5, 2.5),
        ("min(10, $PendingTasks)", 0, 10),
        ("min(10, something)", None, 10),
        ("max(2, min(10, something))", 2, 10),
        ("max(2, something)", 2, None),
        ("max(0, min(10, something))", 0, 10),
        ("(min(10, (3)))", 3, 3),
        ("a < 5 ? 1 : 8", 1, 8),
        ("a < 5 ? 1 : b < 3 ? 2 : 8", None, None),
        ("a < 5 ? min(1, x) : 8", None, 8),
        ("avg($ActiveTasks.GetSample(TimeInterval_Minute * 15))", 0, None),
        ("max($PendingTasks.GetSample(180))", 0, None),
        ("min(10, 2) * 50", None, None),
        ("min(10, x) + min(5, y)", None, None),
        ("min(10", None, None),
        ("-1", None, None),
        ("", None, None),
    ],
)
def test_bounds_of_an_expression(expression, least, most):
    assert formula_bounds(f"$TargetDedicatedNodes = {expression};") == {"dedicated": Bounds(least, most)}


def test_constants_are_followed():
    assert formula_bounds(TASKS) == {"dedicated": Bounds(0, 25)}


def test_both_kinds_of_nodes():
    formula = "n = 3; $TargetDedicatedNodes = n; $TargetLowPriorityNodes = min(7, $ActiveTasks);"
    assert formula_bounds(formula) == {"dedicated": Bounds(3, 3), "spot": Bounds(0, 7)}


def test_the_last_assignment_counts():
    assert formula_bounds("$TargetDedicatedNodes = 3; $TargetDedicatedNodes = 5;") == {"dedicated": Bounds(5, 5)}


def test_what_a_comment_says_is_no_assignment():
    assert formula_bounds("/* $TargetDedicatedNodes = 3; */ // $TargetDedicatedNodes = 4;\n") == {}


def test_a_variable_of_a_later_statement_is_not_known_yet():
    assert formula_bounds("$TargetDedicatedNodes = n; n = 3;") == {"dedicated": Bounds(None, None)}


@given(st.text(alphabet="()?:,;=$<minaxTr0123. \n", max_size=60))
def test_no_formula_raises(text):
    for bounds in formula_bounds(f"$TargetDedicatedNodes = {text}").values():
        assert bounds.least is None or bounds.most is None or bounds.least <= bounds.most


def test_a_deep_formula_has_no_bounds_instead_of_no_end():
    deep = "(" * 5000 + "1" + ")" * 5000
    assert formula_bounds(f"$TargetDedicatedNodes = {deep};") == {"dedicated": Bounds(None, None)}
