"""Cases of gpufleet.rules.azure.batch_image."""

from datetime import date

from gpufleet.rules.azure.batch_image import (
    image_agent,
    image_architecture,
    image_docker,
    image_driver,
    image_ended,
    image_ends,
    image_infiniband,
)

HPC = "microsoft-dsvm:ubuntu-hpc:2404"
KNOWN = ["a:b:1", HPC]
CASES = {
    image_ended: [
        ("day-before", {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 6, 29)}, "pass", ""),
        ("last-day", {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 6, 30)}, "pass", ""),
        (
            "day-after",
            {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 7, 1)},
            "fail",
            (
                "trainers: node_agent_sku_id=batch.node.ubuntu 22.04: Batch has not supported it since 2027-06-30; "
                "use microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04 [azure-batch-image-ended]"
            ),
        ),
        (
            "focal",
            {"node_agent": "Batch.Node.Ubuntu 20.04", "today": date(2026, 11, 21)},
            "fail",
            (
                "trainers: node_agent_sku_id=Batch.Node.Ubuntu 20.04: Batch has not supported it since 2025-04-23; "
                "use microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04 [azure-batch-image-ended]"
            ),
        ),
        ("current", {"node_agent": "batch.node.ubuntu 24.04", "today": date(2026, 11, 21)}, "pass", ""),
    ],
    image_ends: [
        ("366-days", {"node_agent": "batch.node.ubuntu 22.04", "today": date(2026, 6, 29)}, "pass", ""),
        (
            "365-days",
            {"node_agent": "batch.node.ubuntu 22.04", "today": date(2026, 6, 30)},
            "fail",
            (
                "trainers: node_agent_sku_id=batch.node.ubuntu 22.04: Batch supports it until 2027-06-30 only; use "
                "microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04 [azure-batch-image-ends]"
            ),
        ),
        (
            "last-day",
            {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 6, 30)},
            "fail",
            (
                "trainers: node_agent_sku_id=batch.node.ubuntu 22.04: Batch supports it until 2027-06-30 only; use "
                "microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04 [azure-batch-image-ends]"
            ),
        ),
        ("ended", {"node_agent": "batch.node.ubuntu 22.04", "today": date(2027, 7, 1)}, "pass", ""),
        ("current", {"node_agent": "batch.node.ubuntu 24.04", "today": date(2026, 11, 21)}, "pass", ""),
    ],
    image_agent: [
        (
            "known",
            {"image": "a:b:1", "node_agent": "", "known": KNOWN},
            "pass",
            "",
        ),
        (
            "own-agent",
            {
                "image": "c:d:2:latest",
                "node_agent": "batch.node.el 9",
                "known": KNOWN,
            },
            "pass",
            "",
        ),
        (
            "gallery",
            {
                "image": "/subscriptions/s/images/i",
                "node_agent": "batch.node.el 9",
                "known": KNOWN,
            },
            "pass",
            "",
        ),
        (
            "no-agent",
            {"image": "c:d:2", "node_agent": "", "known": KNOWN},
            "fail",
            (
                "trainers: image=c:d:2: needs a node agent, and which one is not known; give node_agent, such as "
                "batch.node.ubuntu 24.04, or use a:b:1 or microsoft-dsvm:ubuntu-hpc:2404 [azure-batch-image-agent]"
            ),
        ),
        (
            "gallery-no-agent",
            {
                "image": "/subscriptions/s/images/i",
                "node_agent": "",
                "known": KNOWN,
            },
            "fail",
            (
                "trainers: image=/subscriptions/s/images/i: needs a node agent, and which one is not known; give "
                "node_agent, such as batch.node.ubuntu 24.04, or use a:b:1 or microsoft-dsvm:ubuntu-hpc:2404 "
                "[azure-batch-image-agent]"
            ),
        ),
        (
            "alias",
            {
                "image": "ubuntu-hpc",
                "node_agent": "batch.node.el 9",
                "known": KNOWN,
            },
            "fail",
            (
                "trainers: image=ubuntu-hpc: is neither a marketplace image nor an image id; use a:b:1 or "
                "microsoft-dsvm:ubuntu-hpc:2404, another publisher:offer:sku, or the id of an image in a compute "
                "gallery [azure-batch-image-agent]"
            ),
        ),
        (
            "hole",
            {"image": "a::b", "node_agent": "", "known": KNOWN},
            "fail",
            (
                "trainers: image=a::b: is neither a marketplace image nor an image id; use a:b:1 or "
                "microsoft-dsvm:ubuntu-hpc:2404, another publisher:offer:sku, or the id of an image in a compute "
                "gallery [azure-batch-image-agent]"
            ),
        ),
    ],
    image_docker: [
        (
            "has",
            {"image": HPC, "docker": True, "argument": "container_images"},
            "pass",
            "",
        ),
        (
            "lacks",
            {"image": "a:b:1", "docker": False, "argument": "container_images"},
            "fail",
            (
                "trainers: image=a:b:1: has no container runtime, and container_images is given; use "
                "microsoft-dsvm:ubuntu-hpc:2404, or leave that out [azure-batch-image-docker]"
            ),
        ),
        (
            "unknown",
            {"image": "a:b:1", "docker": None, "argument": "registry_servers"},
            "unverified",
            (
                "trainers: image=a:b:1: not verified: whether containers run in it is not known, and "
                "registry_servers is given; make sure that it has a container runtime, or use "
                "microsoft-dsvm:ubuntu-hpc:2404 [azure-batch-image-docker]"
            ),
        ),
    ],
    image_infiniband: [
        ("plain", {"image": "a:b:1", "infiniband": None, "network": "plain"}, "pass", ""),
        ("has", {"image": HPC, "infiniband": True, "network": "infiniband"}, "pass", ""),
        (
            "lacks",
            {"image": "a:b:1", "infiniband": False, "network": "infiniband"},
            "fail",
            (
                "trainers: image=a:b:1: has no drivers of InfiniBand; use microsoft-dsvm:ubuntu-hpc:2404, or set "
                "network=plain [azure-batch-image-infiniband]"
            ),
        ),
        (
            "unknown",
            {"image": "a:b:1", "infiniband": None, "network": "infiniband"},
            "unverified",
            (
                "trainers: image=a:b:1: not verified: whether the drivers of InfiniBand are in it is not known; make "
                "sure that they are, or use microsoft-dsvm:ubuntu-hpc:2404 [azure-batch-image-infiniband]"
            ),
        ),
    ],
    image_architecture: [
        (
            "same",
            {
                "image": HPC,
                "runs": "x86_64",
                "type_name": "Standard_ND96asr_v4",
                "architecture": "x86_64",
            },
            "pass",
            "",
        ),
        (
            "arm",
            {
                "image": HPC,
                "runs": "x86_64",
                "type_name": "Standard_ND128isr_NDR_GB200_v6",
                "architecture": "arm64",
            },
            "fail",
            (
                "trainers: image=microsoft-dsvm:ubuntu-hpc:2404: is for x86_64, and Standard_ND128isr_NDR_GB200_v6 "
                "has processors of arm64; use an image for arm64, or another size [azure-batch-image-architecture]"
            ),
        ),
        (
            "unknown",
            {"image": "a:b:1", "runs": None, "type_name": "Standard_ND96asr_v4", "architecture": "x86_64"},
            "unverified",
            (
                "trainers: image=a:b:1: not verified: whether it is for x86_64, as Standard_ND96asr_v4 needs, is not "
                "known; make sure that it is [azure-batch-image-architecture]"
            ),
        ),
    ],
    image_driver: [
        (
            "cuda",
            {"image": HPC, "driver": "cuda", "type_name": "Standard_NC4as_T4_v3"},
            "pass",
            "",
        ),
        (
            "none",
            {"image": "a:b:1", "driver": None, "type_name": "Standard_NC4as_T4_v3"},
            "fail",
            (
                "trainers: image=a:b:1: has no NVIDIA driver, and Standard_NC4as_T4_v3 works with the CUDA driver "
                "only; use microsoft-dsvm:ubuntu-hpc:2404, your own image, or install it with start_command "
                "[azure-batch-image-driver]"
            ),
        ),
        (
            "virtual",
            {"image": HPC, "driver": "cuda", "type_name": "Standard_NV36ads_A10_v5"},
            "fail",
            (
                "trainers: image=microsoft-dsvm:ubuntu-hpc:2404: has NVIDIA's CUDA driver, and "
                "Standard_NV36ads_A10_v5 works with the GRID driver only; use a size of the NC or ND families, your "
                "own image, or install it with start_command [azure-batch-image-driver]"
            ),
        ),
        (
            "virtual-none",
            {"image": "a:b:1", "driver": None, "type_name": "Standard_NV36ads_A10_v5"},
            "fail",
            (
                "trainers: image=a:b:1: has no NVIDIA driver, and Standard_NV36ads_A10_v5 works with the GRID driver "
                "only; use a size of the NC or ND families, your own image, or install it with start_command "
                "[azure-batch-image-driver]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
