"""Cases of gpufleet.rules.azure.batch_scaling."""

from gpufleet.rules.azure.batch_scaling import (
    formula_interval,
    formula_length,
    formula_samples,
    formula_target,
    low_priority,
    scale_one_way,
)

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
                "trainers: auto_scale.formula=$a = $TargetDedicatedNodes == 1;: assigns no number of nodes; set "
                "$TargetDedicatedNodes or $TargetLowPriorityNodes [azure-batch-formula-target]"
            ),
        ),
        (
            "empty",
            {"formula": ""},
            "fail",
            (
                "trainers: auto_scale.formula='': assigns no number of nodes; set $TargetDedicatedNodes or "
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
                "trainers: auto_scale.evaluation_interval=PT4M59S: is no interval of 5 minutes to 168 hours; use "
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
                "trainers: auto_scale.evaluation_interval=PT168H1S: is no interval of 5 minutes to 168 hours; use "
                "one such as PT5M or PT15M [azure-batch-formula-interval]"
            ),
        ),
        ("days", {"interval": "P7D"}, "pass", ""),
        (
            "more-days",
            {"interval": "P8D"},
            "fail",
            (
                "trainers: auto_scale.evaluation_interval=P8D: is no interval of 5 minutes to 168 hours; use one "
                "such as PT5M or PT15M [azure-batch-formula-interval]"
            ),
        ),
        (
            "words",
            {"interval": "15 minutes"},
            "fail",
            (
                "trainers: auto_scale.evaluation_interval=15 minutes: is no interval of 5 minutes to 168 hours; "
                "use one such as PT5M or PT15M [azure-batch-formula-interval]"
            ),
        ),
        (
            "empty",
            {"interval": "P"},
            "fail",
            (
                "trainers: auto_scale.evaluation_interval=P: is no interval of 5 minutes to 168 hours; use one "
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
}


def test_case(case):
    case.check()
