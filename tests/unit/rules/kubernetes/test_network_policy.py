"""Cases of gpufleet.rules.kubernetes.network_policy."""

from gpufleet.rules.kubernetes.network_policy import peers_selectable, policies_enforced

CASES = {
    peers_selectable: [
        ("selector", {"argument": "egress", "cidrs": ["0.0.0.0/0", "::/0"], "selectors": True}, "pass", ""),
        ("smaller-block", {"argument": "egress", "cidrs": ["0.0.0.0/1"], "selectors": False}, "pass", ""),
        ("no-block", {"argument": "ingress", "cidrs": [], "selectors": False}, "pass", ""),
        (
            "blocks-only",
            {"argument": "egress", "cidrs": ["0.0.0.0/0", "10.0.0.0/8", "::/0"], "selectors": False},
            "fail",
            "trainers: egress='0.0.0.0/0, ::/0': does not match pods under Cilium, nor DNS among them; add the peer "
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
            "trainers: configuration_values='': whether network policies are enforced is not known; set "
            'enableNetworkPolicy to "true" in it, as a text [aws-network-policy-enforced]',
        ),
    ],
}
