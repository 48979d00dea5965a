"""Cases of gpufleet.rules.labels."""

from gpufleet.rules.labels import key_form, kubelet_allows, validate_labels, value_form

CASES = {
    key_form: [
        ("name", {"argument": "labels", "key": "team"}, "pass", ""),
        ("domain", {"argument": "labels", "key": "example.com/team.a_b-c"}, "pass", ""),
        ("longest", {"argument": "labels", "key": "b" * 63}, "pass", ""),
        (
            "too-long",
            {"argument": "labels", "key": "b" * 64},
            "fail",
            (
                f"trainers: labels={'b' * 64}: is not a "
                "valid Kubernetes key; use at most 63 letters, digits and - _ . between them, after a domain "
                "and / if you like: example.com/team [any-label-form]"
            ),
        ),
        (
            "empty",
            {"argument": "labels", "key": ""},
            "fail",
            (
                "trainers: labels='': is not a valid Kubernetes key; use at most 63 letters, digits and - _ . "
                "between them, after a domain and / if you like: example.com/team [any-label-form]"
            ),
        ),
        (
            "no-name",
            {"argument": "labels", "key": "example.com/"},
            "fail",
            (
                "trainers: labels=example.com/: is not a valid Kubernetes key; use at most 63 letters, digits "
                "and - _ . between them, after a domain and / if you like: example.com/team [any-label-form]"
            ),
        ),
        (
            "no-domain",
            {"argument": "labels", "key": "/team"},
            "fail",
            (
                "trainers: labels=/team: is not a valid Kubernetes key; use at most 63 letters, digits and - "
                "_ . between them, after a domain and / if you like: example.com/team [any-label-form]"
            ),
        ),
        (
            "two-slashes",
            {"argument": "labels", "key": "a/b/c"},
            "fail",
            (
                "trainers: labels=a/b/c: is not a valid Kubernetes key; use at most 63 letters, digits and - "
                "_ . between them, after a domain and / if you like: example.com/team [any-label-form]"
            ),
        ),
        (
            "capital-domain",
            {"argument": "labels", "key": "Example.com/team"},
            "fail",
            (
                "trainers: labels=Example.com/team: is not a valid Kubernetes key; use at most 63 letters, "
                "digits and - _ . between them, after a domain and / if you like: example.com/team "
                "[any-label-form]"
            ),
        ),
        (
            "blank",
            {"argument": "labels", "key": "my team"},
            "fail",
            (
                "trainers: labels=my team: is not a valid Kubernetes key; use at most 63 letters, digits and "
                "- _ . between them, after a domain and / if you like: example.com/team [any-label-form]"
            ),
        ),
        (
            "ends-in-dash",
            {"argument": "labels", "key": "team-"},
            "fail",
            (
                "trainers: labels=team-: is not a valid Kubernetes key; use at most 63 letters, digits and - "
                "_ . between them, after a domain and / if you like: example.com/team [any-label-form]"
            ),
        ),
        ("longest-domain", {"argument": "labels", "key": "b" * 253 + "/x"}, "pass", ""),
        (
            "domain-too-long",
            {"argument": "labels", "key": "b" * 254 + "/x"},
            "fail",
            (
                "trainers: "
                f"labels={'b' * 157}...: "
                "is not a valid Kubernetes key; use at most 63 letters, digits and - _ . between them, after "
                "a domain and / if you like: example.com/team [any-label-form]"
            ),
        ),
    ],
    value_form: [
        ("word", {"argument": "labels.team", "value": "vision_2.a-B"}, "pass", ""),
        ("empty", {"argument": "labels.team", "value": ""}, "pass", ""),
        ("longest", {"argument": "labels.team", "value": "b" * 63}, "pass", ""),
        (
            "too-long",
            {"argument": "labels.team", "value": "b" * 64},
            "fail",
            (
                f"trainers: labels.team={'b' * 64}: is not "
                "a valid Kubernetes value; use at most 63 letters, digits and - _ . between them "
                "[any-label-value]"
            ),
        ),
        (
            "blank",
            {"argument": "labels.team", "value": "computer vision"},
            "fail",
            (
                "trainers: labels.team=computer vision: is not a valid Kubernetes value; use at most 63 "
                "letters, digits and - _ . between them [any-label-value]"
            ),
        ),
        (
            "slash",
            {"argument": "labels.team", "value": "a/b"},
            "fail",
            (
                "trainers: labels.team=a/b: is not a valid Kubernetes value; use at most 63 letters, digits "
                "and - _ . between them [any-label-value]"
            ),
        ),
        (
            "begins-with-dash",
            {"argument": "labels.team", "value": "-a"},
            "fail",
            (
                "trainers: labels.team=-a: is not a valid Kubernetes value; use at most 63 letters, digits "
                "and - _ . between them [any-label-value]"
            ),
        ),
    ],
    kubelet_allows: [
        ("no-domain", {"key": "team"}, "pass", ""),
        ("own-domain", {"key": "example.com/role"}, "pass", ""),
        ("looks-like-it", {"key": "mykubernetes.io/role"}, "pass", ""),
        ("of-nodes", {"key": "node.kubernetes.io/role"}, "pass", ""),
        ("below-that-of-nodes", {"key": "train.node.kubernetes.io/role"}, "pass", ""),
        ("well-known", {"key": "topology.kubernetes.io/zone"}, "pass", ""),
        (
            "role",
            {"key": "node-role.kubernetes.io/worker"},
            "fail",
            "trainers: labels=node-role.kubernetes.io/worker: nodes with it never join: the kubelet may not give "
            "itself this label; use your own domain, such as example.com/role, or node.kubernetes.io "
            "[aws-label-kubelet]",
        ),
        (
            "bare-domain",
            {"key": "k8s.io/team"},
            "fail",
            "trainers: labels=k8s.io/team: nodes with it never join: the kubelet may not give itself this label; use "
            "your own domain, such as example.com/role, or node.kubernetes.io [aws-label-kubelet]",
        ),
        (
            "not-quite-well-known",
            {"key": "topology.kubernetes.io/rack"},
            "fail",
            "trainers: labels=topology.kubernetes.io/rack: nodes with it never join: the kubelet may not give itself "
            "this label; use your own domain, such as example.com/role, or node.kubernetes.io [aws-label-kubelet]",
        ),
    ],
}


def test_case(case):
    case.check()


def test_labels_and_taints_are_judged_one_by_one():
    taints = [{"key": "a b", "value": "c", "effect": "NO_SCHEDULE"}, {"key": "ok", "value": "c d"}, "x"]
    findings = validate_labels({"labels": {"team": "x y", "later": object()}, "taints": taints})
    assert [(each.argument, each.rule) for each in findings if each.status == "fail"] == [
        ("labels.team", "any-label-value"),
        ("taints.key", "any-label-form"),
        ("taints.value", "any-label-value"),
    ]
    assert validate_labels({"labels": 3, "taints": "x"}) == []
