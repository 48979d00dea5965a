"""Cases of gpufleet.rules.kubernetes.version."""

from gpufleet.rules.kubernetes.version import version_pinned

CASES = {
    version_pinned: [
        ("three", {"argument": "version", "version": "0.20.0"}, "pass", ""),
        ("with-v", {"argument": "version", "version": "v26.7.0"}, "pass", ""),
        ("candidate", {"argument": "version", "version": "1.2.3-rc.1"}, "pass", ""),
        (
            "branch",
            {"argument": "version", "version": "master"},
            "fail",
            (
                "trainers: version=master: is not one version; use three numbers, such as 0.20.0 [any-"
                "kubernetes-version-pinned]"
            ),
        ),
        (
            "two",
            {"argument": "version", "version": "0.20"},
            "fail",
            (
                "trainers: version=0.20: is not one version; use three numbers, such as 0.20.0 [any-kubernetes-"
                "version-pinned]"
            ),
        ),
        (
            "range",
            {"argument": "version", "version": "~0.20.0"},
            "fail",
            (
                "trainers: version=~0.20.0: is not one version; use three numbers, such as 0.20.0 [any-"
                "kubernetes-version-pinned]"
            ),
        ),
        (
            "latest",
            {"argument": "version", "version": "latest"},
            "fail",
            (
                "trainers: version=latest: is not one version; use three numbers, such as 0.20.0 [any-"
                "kubernetes-version-pinned]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
