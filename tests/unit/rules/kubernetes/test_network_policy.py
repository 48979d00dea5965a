"""Cases of gpufleet.rules.kubernetes.network_policy."""

from gpufleet.rules.kubernetes.network_policy import peers_selectable, policies_enforced, version_enforces

CASES = {
    peers_selectable: [
        ("selector", {"argument": "egress", "cidrs": ["0.0.0.0/0", "::/0"], "selectors": True}, "pass", ""),
        ("smaller-block", {"argument": "egress", "cidrs": ["0.0.0.0/1"], "selectors": False}, "pass", ""),
        ("no-block", {"argument": "ingress", "cidrs": [], "selectors": False}, "pass", ""),
        (
            "blocks-only",
            {"argument": "egress", "cidrs": ["0.0.0.0/0", "10.0.0.0/8", "::/0"], "selectors": False},
            "fail",
            "trainers: egress=0.0.0.0/0, ::/0: does not match pods under Cilium, nor DNS among them; add the peer "
            "{namespaceSelector: {}}, or a podSelector [any-network-policy-peers]",
        ),
    ],
    policies_enforced: [
        ("enabled", {"policies": 2, "settings": '{"enableNetworkPolicy": "true"}', "enforced": True}, "pass", ""),
        ("no-policies", {"policies": 0, "settings": "", "enforced": False}, "pass", ""),
        (
            "default",
            {"policies": 1, "settings": "", "enforced": False},
            "fail",
            "trainers: configuration_values='': does not enforce the stack's network policies; set enableNetworkPolicy "
            'to "true" in it, as a text [aws-network-policy-enforced]',
        ),
        (
            "unknown",
            {"policies": 1, "settings": "", "enforced": None},
            "unverified",
            "trainers: configuration_values='': not verified: whether network policies are enforced is not known; set "
            'enableNetworkPolicy to "true" in it, as a text [aws-network-policy-enforced]',
        ),
    ],
    version_enforces: [
        ("first", {"version": "v1.14.0-eksbuild.3", "enabled": True}, "pass", ""),
        ("two-digits", {"version": "v1.20.4-eksbuild.1", "enabled": True}, "pass", ""),
        ("of-eks", {"version": "", "enabled": True}, "pass", ""),
        ("old-without-the-setting", {"version": "v1.13.4-eksbuild.1", "enabled": False}, "pass", ""),
        (
            "old",
            {"version": "v1.13.4-eksbuild.1", "enabled": True},
            "fail",
            "trainers: addon_version=v1.13.4-eksbuild.1: does not know enableNetworkPolicy, and EKS rejects the "
            "setting; use v1.14 or newer, or leave it out: EKS then chooses it [aws-network-policy-version]",
        ),
        (
            "other-form",
            {"version": "latest", "enabled": True, "argument": "addon_versions.vpc-cni"},
            "unverified",
            "trainers: addon_versions.vpc-cni=latest: not verified: whether this version knows enableNetworkPolicy is "
            "not known; use v1.14 or newer, or leave it out: EKS then chooses it [aws-network-policy-version]",
        ),
    ],
}


def test_case(case):
    case.check()
