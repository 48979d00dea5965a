"""Cases of gpufleet.rules.kubernetes.queue_flavors."""

from gpufleet.rules.kubernetes.queue_flavors import (
    queue_pool_gpu,
    queue_pool_zone,
    validate_queue_order,
    validate_queue_pool,
)

CASES = {
    queue_pool_zone: [
        ("one", {"zones": ("use1-az1",)}, "pass", ""),
        (
            "two",
            {"zones": ("use1-az1", "use1-az2")},
            "fail",
            "trainers: zones=[use1-az1, use1-az2]: are 2 zones, where a queue counts GPUs of one; make a pool for each "
            "zone, or leave gpufleet:queue out [any-queue-pool-zone]",
        ),
        (
            "none",
            {"zones": ()},
            "fail",
            "trainers: zones=[]: are 0 zones, where a queue counts GPUs of one; make a pool for each zone, or leave "
            "gpufleet:queue out [any-queue-pool-zone]",
        ),
    ],
    queue_pool_gpu: [
        ("one", {"types": ("p5.48xlarge",), "models": ("H100",)}, "pass", ""),
        ("alike", {"types": ("g5.xlarge", "g5.2xlarge"), "models": ("A10G", "A10G")}, "pass", ""),
        (
            "different",
            {"types": ("g5.xlarge", "g6.xlarge"), "models": ("A10G", "L4")},
            "fail",
            "trainers: types=[g5.xlarge, g6.xlarge]: have A10G and L4 GPUs, where a queue counts those of one model; "
            "make a pool for each GPU model, or leave gpufleet:queue out [any-queue-pool-gpu]",
        ),
        (
            "unknown",
            {"types": ("p9.xlarge",), "models": (None,)},
            "fail",
            "trainers: types=[p9.xlarge]: are of unknown GPUs (p9.xlarge), which a queue cannot count; use types of "
            "the catalog, or leave gpufleet:queue out [any-queue-pool-gpu]",
        ),
    ],
}


def test_case(case):
    case.check()


def rules(findings):
    return [each.rule for each in findings if each.rejects]


def test_the_door_reads_types_and_zones():
    models = {"g5.xlarge": "A10G", "g6.xlarge": "L4"}
    assert rules(validate_queue_pool({"types": ["g5.xlarge"], "zones": ["use1-az1"]}, models)) == []
    faulty = {"types": ["g5.xlarge", "g6.xlarge"], "zones": ["use1-az1", "use1-az2"]}
    assert rules(validate_queue_pool(faulty, models)) == ["any-queue-pool-zone", "any-queue-pool-gpu"]


def test_an_order_names_pools_once():
    assert validate_queue_order(None, ["a"]) == []
    assert rules(validate_queue_order(["a", "a"], ["a"])) == ["any-argument-distinct"]
    assert rules(validate_queue_order(["b"], ["a"])) == ["any-argument-word"]
