"""Cases of gpufleet.rules.aws.batch_stack."""

from gpufleet.rules.aws.batch_stack import image_given, multinode_fits, pool_known

CASES = {
    pool_known: [
        ("known", {"argument": "pools", "pool": "spot", "pools": ["big", "spot"]}, "pass", ""),
        (
            "misspelt",
            {"argument": "pools", "pool": "spto", "pools": ["big", "spot"]},
            "fail",
            "trainers: pools=spto: is not a pool of the environment; did you mean spot? (use big or spot) "
            "[aws-batch-pool-known]",
        ),
    ],
    multinode_fits: [
        ("all of the pool", {"nodes": 4, "most": 4}, "pass", ""),
        (
            "one more",
            {"nodes": 5, "most": 4},
            "fail",
            "trainers: nodes=5: is more than the 4 of its pool, so that the job never starts; use 4 or fewer, or raise "
            "the pool's max [aws-batch-multinode-fits]",
        ),
        (
            "one node",
            {"nodes": 1, "most": 4},
            "fail",
            "trainers: nodes=1: is not a multi-node job; use 2 or more, or leave multinode out "
            "[aws-batch-multinode-fits]",
        ),
    ],
    image_given: [
        ("a repository", {"repository": "dev/training"}, "pass", ""),
        (
            "none",
            {"repository": None},
            "fail",
            "trainers: image=null: jobs have none; name a repository (gpufleet:registry.repositories) "
            "[aws-batch-image-given]",
        ),
    ],
}


def test_case(case):
    case.check()
