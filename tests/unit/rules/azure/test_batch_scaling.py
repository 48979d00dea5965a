"""Cases of gpufleet.rules.azure.batch_scaling."""

from gpufleet.rules.azure.batch_scaling import (
    formula_interval,
    formula_length,
    formula_samples,
    formula_target,
    idle_window,
    inter_node_scale_in,
    low_priority,
    scale_one_way,
    task_fits,
    validate_autoscale,
)
from gpufleet.rules.rule import Status

CASES = {
    scale_one_way: [
        ("fixed", {"fixed": True, "automatic": False}, "pass", ""),
        ("formula", {"fixed": False, "automatic": True}, "pass", ""),
        ("neither", {"fixed": False, "automatic": False}, "pass", ""),
        (
            "both",
            {"fixed": True, "automatic": True},
            "fail",
            (
                "trainers: scale_settings=[fixed_scale, auto_scale]: has both fixed targets and a formula; keep "
                "fixed_scale or auto_scale [azure-batch-scale-one-way]"
            ),
        ),
    ],
    formula_length: [
        ("8192", {"formula": "$" + "a" * 8191}, "pass", ""),
        (
            "8193",
            {"formula": "$" + "a" * 8192},
            "fail",
            (
                "trainers: auto_scale.formula=(8193 bytes): is above 8192 bytes; make it shorter "
                "[azure-batch-formula-length]"
            ),
        ),
        (
            "umlauts",
            {"formula": "ä" * 4097},
            "fail",
            (
                "trainers: auto_scale.formula=(8194 bytes): is above 8192 bytes; make it shorter "
                "[azure-batch-formula-length]"
            ),
        ),
    ],
    formula_target: [
        ("dedicated", {"formula": "$TargetDedicatedNodes = min(10, $PendingTasks);"}, "pass", ""),
        ("spot", {"formula": "$TargetLowPriorityNodes=1;"}, "pass", ""),
        ("old-word", {"formula": "$TargetDedicated=1;"}, "pass", ""),
        (
            "compared",
            {"formula": "$a = $TargetDedicatedNodes == 1;"},
            "fail",
            (
                "trainers: auto_scale.formula=$a = $TargetDedicatedNodes == 1;: does not set a number of nodes; set "
                "$TargetDedicatedNodes or $TargetLowPriorityNodes [azure-batch-formula-target]"
            ),
        ),
        (
            "empty",
            {"formula": ""},
            "fail",
            (
                "trainers: auto_scale.formula='': does not set a number of nodes; set $TargetDedicatedNodes or "
                "$TargetLowPriorityNodes [azure-batch-formula-target]"
            ),
        ),
    ],
    formula_samples: [
        ("none", {"formula": "$TargetDedicatedNodes = min(10, $PendingTasks);"}, "pass", ""),
        (
            "last",
            {"formula": "$TargetDedicatedNodes = $PendingTasks.GetSample(1);"},
            "fail",
            (
                "trainers: auto_scale.formula=$TargetDedicatedNodes = $PendingTasks.GetSample(1);: relies on "
                "GetSample(1), and samples come late or not at all; look at GetSamplePercent first, and take the "
                "samples of some minutes [azure-batch-formula-samples]"
            ),
        ),
        (
            "spaces",
            {"formula": "$TargetDedicatedNodes = $PendingTasks.GetSample( 1 );"},
            "fail",
            (
                "trainers: auto_scale.formula=$TargetDedicatedNodes = $PendingTasks.GetSample( 1 );: relies on "
                "GetSample(1), and samples come late or not at all; look at GetSamplePercent first, and take the "
                "samples of some minutes [azure-batch-formula-samples]"
            ),
        ),
        (
            "minutes",
            {"formula": "$TargetDedicatedNodes = avg($PendingTasks.GetSample(TimeInterval_Minute * 15));"},
            "pass",
            "",
        ),
        (
            "percent",
            {"formula": "$p = $PendingTasks.GetSamplePercent(9); $TargetDedicatedNodes = $PendingTasks.GetSample(1);"},
            "pass",
            "",
        ),
    ],
    formula_interval: [
        ("least", {"interval": "PT5M"}, "pass", ""),
        (
            "below",
            {"interval": "PT4M59S"},
            "fail",
            (
                "trainers: auto_scale.evaluation_interval=PT4M59S: must be an interval of 5 minutes to 168 hours; use "
                "one such as PT5M or PT15M [azure-batch-formula-interval]"
            ),
        ),
        ("seconds", {"interval": "PT300S"}, "pass", ""),
        ("most", {"interval": "PT168H"}, "pass", ""),
        (
            "above",
            {"interval": "PT168H1S"},
            "fail",
            (
                "trainers: auto_scale.evaluation_interval=PT168H1S: must be an interval of 5 minutes to 168 hours; use "
                "one such as PT5M or PT15M [azure-batch-formula-interval]"
            ),
        ),
        ("days", {"interval": "P7D"}, "pass", ""),
        (
            "more-days",
            {"interval": "P8D"},
            "fail",
            (
                "trainers: auto_scale.evaluation_interval=P8D: must be an interval of 5 minutes to 168 hours; use one "
                "such as PT5M or PT15M [azure-batch-formula-interval]"
            ),
        ),
        (
            "words",
            {"interval": "15 minutes"},
            "fail",
            (
                "trainers: auto_scale.evaluation_interval=15 minutes: must be an interval of 5 minutes to 168 hours; "
                "use one such as PT5M or PT15M [azure-batch-formula-interval]"
            ),
        ),
        (
            "empty",
            {"interval": "P"},
            "fail",
            (
                "trainers: auto_scale.evaluation_interval=P: must be an interval of 5 minutes to 168 hours; use one "
                "such as PT5M or PT15M [azure-batch-formula-interval]"
            ),
        ),
    ],
    low_priority: [
        ("none", {"nodes": 0}, "pass", ""),
        (
            "one",
            {"nodes": 1},
            "fail",
            (
                "trainers: target_low_priority_nodes=1: are Spot nodes since March 2026: their price moves, and "
                "they are evicted when capacity runs short; plan for evictions, or use dedicated nodes "
                "[azure-batch-low-priority]"
            ),
        ),
    ],
    idle_window: [
        ("shortest", {"minutes": 5}, "pass", ""),
        ("longest", {"minutes": 60}, "pass", ""),
        (
            "3-minutes",
            {"minutes": 3},
            "fail",
            (
                "trainers: idle_minutes=3: is too short: samples come a minute late, and 70 percent of them are "
                "required; use 5 to 60 [azure-batch-idle-window]"
            ),
        ),
        (
            "a-day",
            {"minutes": 1440},
            "unverified",
            (
                "trainers: idle_minutes=1440: not verified: looks back farther than Batch is known to keep samples, "
                "and without samples no node is removed; use 5 to 60 [azure-batch-idle-window]"
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
                "trainers: task_nodes=11: is above max=10: such a task waits forever; use 10 or fewer, or raise max "
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
                "trainers: inter_node_communication=true: keeps nodes from being removed automatically "
                "according to Microsoft, and idle nodes cost money; look at the pool when its jobs are done, and "
                "resize it to "
                "0 if nodes are left [azure-batch-inter-node-scale-in]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


def test_the_door_judges_what_is_given():
    findings = validate_autoscale({"min": 3, "max": 2, "task_nodes": 4, "idle_minutes": 2})
    refusing = [finding.rule for finding in findings if finding.rejects]
    assert refusing == ["azure-batch-idle-window", "any-count-min-max", "azure-batch-task-fits"]
    assert not [finding for finding in validate_autoscale({"max": 10}) if finding.status is not Status.PASS]
