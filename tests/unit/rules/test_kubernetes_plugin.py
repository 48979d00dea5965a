"""Cases of gpufleet.rules.kubernetes_plugin."""

from gpufleet.rules.kubernetes_plugin import repository_form

CASES = {
    repository_form: [
        (
            "usual",
            {"argument": "image", "repository": "registry.example.com:5000/nvidia/k8s-device-plugin"},
            "pass",
            "",
        ),
        (
            "tagged",
            {"argument": "image", "repository": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"},
            "fail",
            (
                "trainers: image=nvcr.io/nvidia/k8s-device-plugin:v0.20.0: is no repository of images; use "
                "host/path without a tag, such as registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-"
                "repository]"
            ),
        ),
        (
            "capital",
            {"argument": "image", "repository": "nvcr.io/NVIDIA/plugin"},
            "fail",
            (
                "trainers: image=nvcr.io/NVIDIA/plugin: is no repository of images; use host/path without a tag,"
                " such as registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-repository]"
            ),
        ),
        (
            "empty",
            {"argument": "image", "repository": ""},
            "fail",
            (
                "trainers: image='': is no repository of images; use host/path without a tag, such as "
                "registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-repository]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
