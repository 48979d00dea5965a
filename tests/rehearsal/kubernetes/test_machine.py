"""What the machines of a node group have, by what the program sent."""

import base64

import pytest

from gpufleet.aws.user_data import HUGE_PAGES, Join, amazon_linux, bottlerocket
from gpufleet_rehearsal.kubernetes.machine import eks_machine, own_kubelet

AL2023, BOTTLEROCKET = "AL2023_x86_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA"
JOIN = Join("dev", "https://x", "Y2E=", "10.0.0.0/16", {"a": "b", "c": ""}, {"nvidia.com/gpu": "present:NoSchedule"})


def plain(text):
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("data", "pages"),
    [
        (amazon_linux(True), HUGE_PAGES),
        (amazon_linux(True, JOIN), HUGE_PAGES),
        (bottlerocket(True), HUGE_PAGES),
        (amazon_linux(False), 0),
        (bottlerocket(False), 0),
        (plain("#!/bin/bash\nsysctl -w vm.nr_hugepages=1024\n"), 1024),
        (plain("#!/bin/bash\necho hugepages\n"), 0),
        ("no base64", 0),
        (None, 0),
    ],
)
def test_huge_pages_are_those_of_the_user_data(data, pages):
    assert eks_machine(AL2023, {"userData": data})["huge_pages"] == pages


@pytest.mark.parametrize(
    ("image", "driver", "built_in"),
    [
        (AL2023, True, []),
        (BOTTLEROCKET, True, ["nvidia.com/gpu"]),
        ("BOTTLEROCKET_x86_64", False, []),
        ("AL2023_x86_64_STANDARD", False, []),
        ("AL2_x86_64_GPU", True, []),
        ("CUSTOM", True, []),
        ("", True, []),
    ],
)
def test_driver_and_plugin_are_those_of_the_image(image, driver, built_in):
    found = eks_machine(image, {})
    assert (found["driver"], found["built_in"]) == (driver, built_in)


@pytest.mark.parametrize(
    ("interfaces", "count"),
    [
        ([{"interfaceType": "efa"}, {"interfaceType": "efa-only"}, {"interfaceType": "interface"}, {}], 2),
        ([], 0),
        (None, 0),
    ],
)
def test_efa_interfaces_are_those_of_the_launch_template(interfaces, count):
    assert eks_machine(AL2023, {"networkInterfaces": interfaces})["efa_interfaces"] == count


def test_own_image_tells_its_kubelet_labels_and_taints():
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    assert own_kubelet({"userData": amazon_linux(True, JOIN)}) == ({"a": "b", "c": ""}, (taint,))
    script = plain(
        "/etc/eks/bootstrap.sh dev --kubelet-extra-args '--node-labels=a=b --register-with-taints=t=v:NoExecute'"
    )
    assert own_kubelet({"userData": script}) == ({"a": "b"}, ({"key": "t", "value": "v", "effect": "NO_EXECUTE"},))
    assert own_kubelet({}) == ({}, ())
