"""Cases of gpufleet.rules.kubernetes.onprem_nodes."""

from gpufleet.rules.kubernetes.onprem_nodes import (
    gpu_spelling,
    kubeconfig_whole,
    node_name,
    node_once,
    place_name,
    plugin_once,
)

CASES = {
    node_name: [
        ("short", {"node": "gpu-1"}, "pass", ""),
        ("dotted", {"node": "gpu-1.lab.example"}, "pass", ""),
        ("longest", {"node": "a" * 253}, "pass", ""),
        (
            "above",
            {"node": "Gpu-1"},
            "fail",
            (
                "trainers: nodes=Gpu-1: is not a valid node name; use names as `kubectl get nodes` prints them "
                "[any-node-name]"
            ),
        ),
    ],
    node_once: [
        ("one", {"node": "gpu-1", "pools": ("v100",)}, "pass", ""),
        (
            "two",
            {"node": "gpu-1", "pools": ("v100", "titan")},
            "fail",
            "trainers: nodes=gpu-1: is in pools v100 and titan; leave it in one of them [any-node-pool]",
        ),
    ],
    gpu_spelling: [
        ("same", {"gpu": "V100", "known": ("A100", "V100")}, "pass", ""),
        ("no-clouds", {"gpu": "TITAN-V", "known": ("A100", "V100")}, "pass", ""),
        (
            "another",
            {"gpu": "v-100", "known": ("A100", "V100")},
            "fail",
            "trainers: gpu=v-100: is spelled differently in the catalog, so jobs see two models; use V100 "
            "[any-node-gpu]",
        ),
    ],
    place_name: [
        ("onprem", {"place": "onprem"}, "pass", ""),
        (
            "any",
            {"place": "any"},
            "fail",
            "trainers: place=any: is reserved for every place; use another name, such as onprem [any-node-place]",
        ),
    ],
    kubeconfig_whole: [
        ("whole", {"faults": ()}, "pass", ""),
        (
            "two",
            {"faults": ("has no current-context", "names a file (client-key)")},
            "fail",
            (
                "trainers: kubeconfig=[secret]: has no current-context and names a file (client-key); set it with "
                "`kubectl config view --minify --flatten | pulumi config set --secret gpufleet:kubeconfig` "
                "[any-kubeconfig-whole]"
            ),
        ),
    ],
    plugin_once: [
        ("plugin", {"software": ("device-plugin", "mpi-operator")}, "pass", ""),
        ("operator", {"software": ("gpu-operator",)}, "pass", ""),
        (
            "both",
            {"software": ("gpu-operator", "device-plugin")},
            "fail",
            (
                "trainers: software=[gpu-operator, device-plugin]: installs the device plugin twice; leave one of "
                "the two out [any-gpu-plugin-once]"
            ),
        ),
        ("exporter", {"software": ("device-plugin", "dcgm-exporter")}, "pass", ""),
        (
            "both exporters",
            {"software": ("gpu-operator", "dcgm-exporter")},
            "fail",
            (
                "trainers: software=[gpu-operator, dcgm-exporter]: installs DCGM's exporter twice; leave one of "
                "the two out [any-gpu-plugin-once]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
