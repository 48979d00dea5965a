"""Cases of gpufleet.rules.kubernetes.device_plugins."""

from gpufleet.rules.kubernetes.device_plugins import efa_image_known, rdma_of_driver, repository_form

CASES = {
    efa_image_known: [
        ("known", {"region": "us-gov-west-1", "known": True}, "pass", ""),
        (
            "unknown",
            {"region": "ap-east-2", "known": False},
            "fail",
            "trainers: region=ap-east-2: has no registry of EKS that the catalog knows; give image, a repository with "
            "AWS's aws-efa-k8s-device-plugin [aws-efa-plugin-image]",
        ),
    ],
    rdma_of_driver: [
        ("off", {"rdma": False, "driver": False}, "pass", ""),
        ("own-driver", {"rdma": True, "driver": True}, "pass", ""),
        (
            "nodes-driver",
            {"rdma": True, "driver": False},
            "fail",
            (
                "trainers: rdma=true: needs the operator's driver; set driver=true and use nodes without one "
                "[any-gpu-operator-rdma]"
            ),
        ),
    ],
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
                "trainers: image=nvcr.io/nvidia/k8s-device-plugin:v0.20.0: is not an image repository; use "
                "host/path without a tag, such as registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-"
                "repository]"
            ),
        ),
        (
            "capital",
            {"argument": "image", "repository": "nvcr.io/NVIDIA/plugin"},
            "fail",
            (
                "trainers: image=nvcr.io/NVIDIA/plugin: is not an image repository; use host/path without a tag,"
                " such as registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-repository]"
            ),
        ),
        (
            "empty",
            {"argument": "image", "repository": ""},
            "fail",
            (
                "trainers: image='': is not an image repository; use host/path without a tag, such as "
                "registry.example.com/nvidia/k8s-device-plugin [any-kubernetes-repository]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
