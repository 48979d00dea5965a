"""Cases of gpufleet.rules.aws.cluster_access."""

from gpufleet.rules.aws.cluster_access import (
    addon_known,
    administered,
    api_reached,
    cluster_name_legal,
    principal_is_iam,
    support_known,
)

CASES = {
    api_reached: [
        ("from an office", {"public_access_cidrs": ["52.94.76.0/22"]}, "pass", ""),
        (
            "from the VPC",
            {"public_access_cidrs": []},
            "fail",
            (
                "trainers: public_access_cidrs=[]: the cluster's API is reachable from inside the VPC only; run "
                "`pulumi up` and `gpufleet jobs` in it (a VPN, a runner there), or list your address, as "
                "203.0.113.7/32 [aws-cluster-api-reached]"
            ),
        ),
        ("nothing is installed yet", {"public_access_cidrs": [], "phase": "cloud", "own_servers": True}, "pass", ""),
        ("the line is up", {"public_access_cidrs": [], "phase": "cluster", "own_servers": True}, "pass", ""),
        ("from the internet", {"public_access_cidrs": ["52.94.76.0/22"], "own_servers": True}, "pass", ""),
        (
            "over a line that is not there",
            {"public_access_cidrs": [], "own_servers": True},
            "fail",
            (
                "trainers: phase=not given: installs on the cluster, whose API is reachable from the VPC and over the "
                "line to the site only; use cloud until `gpufleet link` says that the line is up, then cluster "
                "[aws-cluster-api-reached]"
            ),
        ),
    ],
    administered: [
        ("creator", {"creator_is_admin": True, "admins": ()}, "pass", ""),
        ("admins", {"creator_is_admin": False, "admins": ("ops",)}, "pass", ""),
        (
            "nobody",
            {"creator_is_admin": False, "admins": ()},
            "fail",
            (
                "trainers: creator_is_admin=false: nobody would administer the cluster; name admins, or set it to "
                "true [aws-cluster-administered]"
            ),
        ),
    ],
    principal_is_iam: [
        ("role", {"name": "ops", "principal": "arn:aws:iam::123456789012:role/ops"}, "pass", ""),
        (
            "session",
            {"name": "ops", "principal": "arn:aws:sts::123456789012:assumed-role/ops/me"},
            "fail",
            (
                "trainers: admins.ops=arn:aws:sts::123456789012:assumed-role/ops/me: is a session; use the role's "
                "own ARN, arn:aws:iam::<account>:role/<name> [aws-cluster-admin-principal]"
            ),
        ),
        (
            "account",
            {"name": "ops", "principal": "123456789012"},
            "fail",
            (
                "trainers: admins.ops=123456789012: is not an IAM role or user; use the role's own ARN, "
                "arn:aws:iam::<account>:role/<name> [aws-cluster-admin-principal]"
            ),
        ),
    ],
    cluster_name_legal: [
        ("longest", {"cluster_name": "c" * 100}, "pass", ""),
        (
            "too-long",
            {"cluster_name": "c" * 101},
            "fail",
            (
                "trainers: cluster_name="
                + "c" * 101
                + (
                    ": is not a valid EKS cluster name; use up to 100 letters, digits, - and _, "
                    "beginning with a letter or digit [aws-cluster-name]"
                )
            ),
        ),
        (
            "hyphen-first",
            {"cluster_name": "-c"},
            "fail",
            (
                "trainers: cluster_name=-c: is not a valid EKS cluster name; use up to 100 letters, digits, - "
                "and _, beginning with a letter or digit [aws-cluster-name]"
            ),
        ),
        (
            "empty",
            {"cluster_name": ""},
            "fail",
            (
                "trainers: cluster_name='': is not a valid EKS cluster name; use up to 100 letters, digits, - "
                "and _, beginning with a letter or digit [aws-cluster-name]"
            ),
        ),
    ],
    addon_known: [
        ("known", {"addon": "vpc-cni", "known": ("coredns", "vpc-cni")}, "pass", ""),
        (
            "misspelt",
            {"addon": "vpc_cni", "known": ("coredns", "vpc-cni")},
            "fail",
            (
                "trainers: addon_versions=vpc_cni: the cluster has no such add-on; did you mean vpc-cni? (use "
                "coredns or vpc-cni) [aws-cluster-addon]"
            ),
        ),
    ],
    support_known: [
        ("standard", {"support": "STANDARD"}, "pass", ""),
        (
            "lower-case",
            {"support": "extended"},
            "fail",
            "trainers: support=extended: is unknown; use STANDARD or EXTENDED [aws-cluster-support]",
        ),
    ],
}


def test_case(case):
    case.check()
