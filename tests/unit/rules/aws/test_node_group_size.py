"""Cases of gpufleet.rules.aws.node_group_size."""

from gpufleet.rules.aws.node_group_size import live_minimum, nodes_within_quota

REQUEST = (
    "`aws service-quotas request-service-quota-increase --service-code eks --quota-code L-BD136A63 --region {region} "
    "--desired-value {value}`"
)
LIVE = {"stands": True, "least": 2, "cluster": "fleet", "group": "trainers-1"}
CASES = {
    nodes_within_quota: [
        ("the-default", {"most": 450, "limit": None, "region": "us-east-1"}, "pass", ""),
        (
            "above-the-default",
            {"most": 512, "limit": None, "region": "us-east-1"},
            "unverified",
            (
                "trainers: max=512: not verified: EKS allows 450 nodes in a node group by default, and whether the "
                "account has more is not known; make 2 pools of at most 450 (a job runs in one of them), or ask for "
                f"512: {REQUEST.format(region='us-east-1', value=512)} [aws-node-group-quota]"
            ),
        ),
        (
            "one-above-the-default",
            {"most": 451, "limit": None, "region": "us-east-1"},
            "unverified",
            (
                "trainers: max=451: not verified: EKS allows 450 nodes in a node group by default, and whether the "
                "account has more is not known; make 2 pools of at most 450 (a job runs in one of them), or ask for "
                f"451: {REQUEST.format(region='us-east-1', value=451)} [aws-node-group-quota]"
            ),
        ),
        ("raised", {"most": 512, "limit": 512, "region": "us-east-1"}, "pass", ""),
        (
            "above-the-accounts",
            {"most": 901, "limit": 450, "region": ""},
            "fail",
            (
                "trainers: max=901: EKS allows this account 450 nodes in a node group; make 3 pools of at most 450 (a "
                f"job runs in one of them), or ask for 901: {REQUEST.format(region='REGION', value=901)} "
                "[aws-node-group-quota]"
            ),
        ),
    ],
    live_minimum: [
        ("as-many-as-run", {**LIVE, "desired": 2}, "pass", ""),
        ("new", {**LIVE, "stands": False, "desired": 0}, "pass", ""),
        (
            "one-more-than-run",
            {**LIVE, "desired": 1},
            "fail",
            (
                "trainers: min=2: EKS rejects a minimum above the 1 nodes that the group has by the state, which the "
                "update sends; raise the nodes first: `aws eks update-nodegroup-config --cluster-name fleet "
                "--nodegroup-name trainers-1 --scaling-config desiredSize=2`, then `pulumi up --refresh` "
                "[aws-node-group-live-minimum]"
            ),
        ),
    ],
}


def test_case(case) -> None:
    case.check()
