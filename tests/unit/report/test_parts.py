"""Parts of a resource are counted and shown with it."""

from datetime import date
from typing import Any

import pytest

from gpufleet.report.build import build_report
from gpufleet.report.formats.html import render_html
from gpufleet.report.formats.markdown import render_markdown
from gpufleet.report.model import Report
from gpufleet.report.preview_json import parse_preview
from gpufleet.report.text import headline
from tests.unit.report.written_previews import document, step, urn

NODES, TAG, ROLE = "aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/tag:Tag", "aws:iam/role:Role"
OF_NODES = {"propertyDependencies": {"autoscalingGroupName": [urn(NODES, "nodes")]}}


def made(*steps: dict[str, Any]) -> Report:
    return build_report([parse_preview(document(*steps), "p")], today=date(2026, 11, 22))


def tags(operation: str, number: int) -> list[dict[str, Any]]:
    old = {"old": {}, "oldStates": OF_NODES} if operation != "create" else {}
    new = {"new": {}, "newStates": OF_NODES} if operation != "delete" else {}
    return [step(operation, TAG, f"{operation}-{n}", **old, **new) for n in range(number)]


def test_eleven_tags_and_their_node_group_are_one_replacement() -> None:
    report = made(step("replace", NODES, "nodes", {}, {}, replaceReasons=["instanceTypes"]), *tags("replace", 11))
    (stack,) = report.stacks
    assert stack.summary == {"replace": 12}
    assert headline(stack).endswith(", 1 replaced (with 11 Auto Scaling tags)")
    comment = render_markdown(report)
    assert "for `instanceTypes`, with 11 Auto Scaling tags: its nodes are drained" in comment
    assert "more replaced or deleted" not in comment
    assert "with 11 Auto Scaling tags" in render_html(report)
    # The diff has each.
    assert comment.count("! replaced replace-") == 11


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ("update", "1 updated (with 1 Auto Scaling tag deleted, 2 Auto Scaling tags created)"),
        ("create", "1 created (with 1 Auto Scaling tag deleted, 2 Auto Scaling tags)"),
    ],
)
def test_parts_to_which_something_else_happens(operation: str, said: str) -> None:
    old = {} if operation == "create" else {"old": {}}
    report = made(step(operation, NODES, "nodes", **old, new={"x": 1}), *tags("create", 2), *tags("delete", 1))
    assert headline(report.stacks[0]).endswith(f", {said}")


def test_parts_of_many_kinds_are_one_number() -> None:
    of_role = {"propertyDependencies": {"role": [urn(ROLE, "role")]}}
    kinds = ("aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    parts = [
        *(step("create", kind, f"new-{n}", None, {}, newStates=of_role) for n, kind in enumerate(kinds)),
        *(step("delete", kind, f"old-{n}", {}, oldStates=of_role) for n, kind in enumerate(kinds)),
    ]
    report = made(step("update", ROLE, "role", {}, {"x": 1}), *parts)
    assert headline(report.stacks[0]).endswith("1 updated (with 4 parts)")


def test_a_part_of_what_does_not_change_stands_by_itself() -> None:
    report = made(step("same", NODES, "nodes", {}, {}), *tags("delete", 2))
    assert headline(report.stacks[0]).endswith("2 deleted")
    assert "2 more replaced or deleted" in render_markdown(report)


def test_nothing_hides_behind_itself() -> None:
    """A report of the change's own code could name resources as parts of each other."""
    report = made(step("delete", ROLE, "a", {}), step("delete", ROLE, "b", {}))
    one, other = report.stacks[0].changes
    object.__setattr__(one, "part_of", other.urn)
    object.__setattr__(other, "part_of", one.urn)
    assert headline(report.stacks[0]).endswith("2 deleted")
    object.__setattr__(one, "part_of", "")
    object.__setattr__(other, "holds", "everything")
    assert "DATA WOULD BE LOST with 1 resource, 2 deleted" in headline(report.stacks[0])
