"""Cases of gpufleet.rules.azure.batch_autoscale."""

from gpufleet.rules.azure.batch_autoscale import idle_window, inter_node_scale_in, task_fits, validate_autoscale
from gpufleet.rules.rule import Status

CASES = {
    idle_window: [
        ("shortest", {"minutes": 5}, "pass", ""),
        ("longest", {"minutes": 60}, "pass", ""),
        (
            "3-minutes",
            {"minutes": 3},
            "fail",
            (
                "trainers: idle_minutes=3: is too short: samples come a minute late, and 70 percent of them are "
                "wanted; use 5 to 60 [azure-batch-idle-window]"
            ),
        ),
        (
            "a-day",
            {"minutes": 1440},
            "unverified",
            (
                "trainers: idle_minutes=1440: not verified: looks back farther than Batch is known to keep samples, "
                "and without them no node goes; use 5 to 60 [azure-batch-idle-window]"
            ),
        ),
    ],
    task_fits: [
        ("all", {"task_nodes": 10, "most": 10}, "pass", ""),
        ("no-node-at-all", {"task_nodes": 2, "most": 0}, "pass", ""),
        (
            "one-more",
            {"task_nodes": 11, "most": 10},
            "fail",
            (
                "trainers: task_nodes=11: is above max=10: such a task waits for ever; use 10 or fewer, or raise max "
                "[azure-batch-task-fits]"
            ),
        ),
    ],
    inter_node_scale_in: [
        ("single", {"inter_node": False}, "pass", ""),
        (
            "talking",
            {"inter_node": True},
            "fail",
            (
                "trainers: inter_node_communication=true: is said by Microsoft to keep nodes from going "
                "automatically, and idle nodes cost money; look at the pool when its jobs are done, and resize it to "
                "0 if nodes are left [azure-batch-inter-node-scale-in]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


def test_the_door_judges_what_is_given():
    findings = validate_autoscale({"min": 3, "max": 2, "task_nodes": 4, "idle_minutes": 2})
    refusing = [finding.rule for finding in findings if finding.refuses]
    assert refusing == ["azure-batch-idle-window", "any-count-min-max", "azure-batch-task-fits"]
    assert not [finding for finding in validate_autoscale({"max": 10}) if finding.status is not Status.PASS]
