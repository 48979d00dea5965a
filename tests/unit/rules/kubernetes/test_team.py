"""Cases of gpufleet.rules.kubernetes.team."""

from gpufleet.rules.kubernetes.team import exception_named, login_form, namespace_own

CASES = {
    namespace_own: [
        ("own", {"namespace": "vision"}, "pass", ""),
        (
            "default",
            {"namespace": "default"},
            "fail",
            (
                "trainers: namespace=default: is one of the cluster's own; use a name of the team's, such as "
                "vision [any-team-namespace]"
            ),
        ),
        (
            "system",
            {"namespace": "kube-system"},
            "fail",
            (
                "trainers: namespace=kube-system: is one of the cluster's own; use a name of the team's, such as"
                " vision [any-team-namespace]"
            ),
        ),
        (
            "reserved",
            {"namespace": "kube-vision"},
            "fail",
            (
                "trainers: namespace=kube-vision: is one of the cluster's own; use a name of the team's, such as"
                " vision [any-team-namespace]"
            ),
        ),
    ],
    exception_named: [
        ("restricted", {"level": "restricted", "exception": ""}, "pass", ""),
        ("reason", {"level": "privileged", "exception": "IPC_LOCK for InfiniBand"}, "pass", ""),
        (
            "none",
            {"level": "baseline", "exception": ""},
            "fail",
            (
                "trainers: pod_security=baseline: lets pods do more without a reason; give exception, or use "
                "restricted [any-team-exception]"
            ),
        ),
        (
            "blank",
            {"level": "baseline", "exception": " "},
            "fail",
            (
                "trainers: pod_security=baseline: lets pods do more without a reason; give exception, or use "
                "restricted [any-team-exception]"
            ),
        ),
    ],
    login_form: [
        ("complete", {"complete": True}, "pass", ""),
        (
            "broken",
            {"complete": False},
            "fail",
            (
                'trainers: docker_config=[secret]: is not a registry login; give {"auths": {"<registry>": '
                '{"username": ..., "password": ...}}}, or ngc_key for nvcr.io [any-team-login]'
            ),
        ),
    ],
}


def test_case(case):
    case.check()
