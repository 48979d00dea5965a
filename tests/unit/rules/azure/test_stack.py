"""Cases of gpufleet.rules.azure.stack."""

from gpufleet.rules.azure.stack import (
    job_container,
    mount_known,
    pool_once,
    pools_on_cluster,
    runs_something,
    subscription_used,
)

CASES = {
    runs_something: [
        ("cluster", {"cluster": True, "batch": False}, "pass", ""),
        ("batch", {"cluster": False, "batch": True}, "pass", ""),
        (
            "neither",
            {"cluster": False, "batch": False},
            "fail",
            "trainers: cluster=null: nothing would run jobs; give gpufleet:cluster, gpufleet:batch, or both "
            "[azure-stack-runs-something]",
        ),
    ],
    pools_on_cluster: [
        ("on it", {"pools": ["a"], "cluster": True}, "pass", ""),
        ("no pools", {"pools": [], "cluster": False}, "pass", ""),
        (
            "no cluster",
            {"pools": ["b", "a"], "cluster": False},
            "fail",
            "trainers: pools=[a, b]: are agent pools of a cluster, and there is none; give gpufleet:cluster, or put "
            "them under gpufleet:batch.pools [azure-stack-pools-on-cluster]",
        ),
    ],
    pool_once: [
        ("once", {"pool": "a", "batch": ["b"]}, "pass", ""),
        (
            "twice",
            {"pool": "a", "batch": ["a"]},
            "fail",
            "trainers: pools=a: is a pool of batch.pools too; give one of them another name [azure-stack-pool-once]",
        ),
    ],
    mount_known: [
        ("there", {"name": "logs", "names": ["scripts", "logs"]}, "pass", ""),
        (
            "misspelt",
            {"name": "results", "names": ["scripts", "result"]},
            "fail",
            "trainers: mounts=results: is neither a container nor a share of the environment's files; did you mean "
            "result? "
            "(use result or scripts) [azure-stack-mount-known]",
        ),
    ],
    job_container: [
        ("there", {"name": "result", "containers": ["data", "result"], "batch": True}, "pass", ""),
        ("no jobs of Batch", {"name": "result", "containers": ["data"], "batch": False}, "pass", ""),
        (
            "left out",
            {"name": "scripts", "containers": ["result", "data"], "batch": True},
            "fail",
            "trainers: containers=[data, result]: has no scripts, where jobs on Azure Batch keep their programs; add "
            "scripts to gpufleet:files.containers [azure-stack-job-container]",
        ),
    ],
    subscription_used: [
        ("neither", {"subscription": None, "group": None}, "pass", ""),
        ("both", {"subscription": "s", "group": "g"}, "pass", ""),
        (
            "nothing there",
            {"subscription": "s", "group": None},
            "fail",
            "trainers: subscription_id=s: is for an existing resource group, and none is given; give "
            "gpufleet:resource_group, or choose the provider's subscription by azure-native:subscriptionId "
            "[azure-stack-subscription]",
        ),
    ],
}


def test_case(case):
    case.check()
