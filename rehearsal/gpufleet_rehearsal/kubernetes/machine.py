"""What a node group's machines have besides their type: by its image, its launch template and its user data.

Read out of what the program sent, not of what it meant: a launch template without huge pages makes nodes without.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

from gpufleet_rehearsal.table.paths import Json

GPU = "nvidia.com/gpu"
_HUGE_PAGES = re.compile(r"""vm[./]nr_hugepages["']?\s*=\s*["']?(\d+)""")
_LABELS = re.compile(r"""--node-labels[= ]["']?([^\s"']+)""")
_TAINTS = re.compile(r"""--register-with-taints[= ]["']?([^\s"']+)""")
EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}
Taint = Mapping[str, str]


class Machine(TypedDict):
    """As tools/kubernetes/fake_node.py has it. driver: whether the image has NVIDIA's.

    built_in: resources whose device plugin the image brings along.
    """

    driver: bool
    efa_interfaces: int
    huge_pages: int
    built_in: list[str]


class Kubelet(NamedTuple):
    """The flags of the kubelet of an own image."""

    labels: dict[str, str]
    taints: tuple[Taint, ...]


def eks_machine(image: str, template: Mapping[str, Json]) -> Machine:
    """image: the node group's amiType, empty where it says none. template: the launch template, empty without one.

    Of an image of the customer's the driver is taken for granted, and no plugin. Bottlerocket's with NVIDIA's driver
    has its device plugin too: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-k8s-device-plugin.html
    """
    nvidia = image.endswith(("_NVIDIA", "_GPU"))
    interfaces = template.get("networkInterfaces")
    kinds = [
        str(each.get("interfaceType", ""))
        for each in (interfaces if isinstance(interfaces, Sequence) and not isinstance(interfaces, str) else ())
        if isinstance(each, Mapping)
    ]
    found = _HUGE_PAGES.search(user_data(template))
    return {
        "driver": nvidia or image in ("", "CUSTOM"),
        "efa_interfaces": sum(kind.startswith("efa") for kind in kinds),
        "huge_pages": int(found[1]) if found else 0,
        "built_in": [GPU] if nvidia and image.startswith("BOTTLEROCKET") else [],
    }


def own_kubelet(template: Mapping[str, Json]) -> Kubelet:
    """Labels and taints of nodes with an image of the customer's, which EKS cannot tell any.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html (no user data is merged then)
    """
    text = user_data(template)
    labels = [pair.partition("=")[::2] for found in _LABELS.findall(text) for pair in found.split(",")]
    taints = [taint_of(word) for found in _TAINTS.findall(text) for word in found.split(",")]
    return Kubelet({key: value for key, value in labels if key}, tuple(taints))


def user_data(template: Mapping[str, Json]) -> str:
    """As plain text, all parts in one; empty where there is none. Parts that are packed themselves are not read."""
    try:
        return base64.b64decode(str(template.get("userData") or ""), validate=True).decode(errors="replace")
    except binascii.Error:
        return ""


def taint_of(text: str) -> Taint:
    """Kubernetes' key=value:NoSchedule in the words of node groups."""
    name, _, effect = text.rpartition(":")
    key, _, value = name.partition("=")
    return {"key": key, "value": value, "effect": EFFECTS[effect]}
