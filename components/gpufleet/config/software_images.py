"""The images of what an AWS environment installs on its cluster, by the configuration keys that replace them."""

from collections.abc import Mapping
from typing import Any

from gpufleet.config.aws import AwsConfig
from gpufleet.config.aws_parts import software_of
from gpufleet.kubernetes import (
    autoscaler,
    dcgm_exporter,
    device_plugin,
    jobset_controller,
    mpi_operator,
    node_health,
    overflow,
    queue,
)

_HUB = {"hub": "quay.io/jupyterhub/k8s-hub", "proxy.chp": "quay.io/jupyterhub/configurable-http-proxy"}
"""Images of JupyterHub's chart. Source: github.com/jupyterhub/zero-to-jupyterhub-k8s, jupyterhub/values.yaml."""


def software_images(config: AwsConfig) -> dict[str, str]:
    """Key below gpufleet: to the image that nodes pull, with or without its tag.

    Without the EFA plugin's own, which lies in EKS's registry of the region, and what is in a manifest of one's own.
    """
    software = software_of(config)
    images: dict[str, str] = {}
    if "device-plugin" in software:
        images["device_plugin.image"] = config.get("device_plugin", {}).get("image", device_plugin.IMAGE)
    if "efa-plugin" in software and "image" in config.get("efa_plugin", {}):
        images["efa_plugin.image"] = config["efa_plugin"]["image"]
    if "dcgm-exporter" in software:
        images["dcgm_exporter.image"] = config.get("dcgm_exporter", {}).get("image", dcgm_exporter.IMAGE)
    if "node-health" in software:
        images["node_health.image"] = config.get("node_health", {}).get("image", node_health.IMAGE)
    if "monitoring" in software:
        registry = _at(config.get("monitoring", {}).get("values", {}), "global.imageRegistry") or "quay.io"
        images["monitoring.values.global.imageRegistry"] = f"{registry}/prometheus/prometheus"
    operator = config.get("operator", {})
    if "mpi-operator" in software and ("image" in operator or not {"manifest", "flavour"} & set(operator)):
        images["operator.image"] = operator.get("image", mpi_operator.IMAGE)
    if "jobset" in software:
        images["jobset.image"] = config.get("jobset", {}).get("image", jobset_controller.IMAGE)
    if "autoscaler" in software:
        scaler = config["autoscaler"]
        chosen = _at(scaler.get("values", {}), "image.repository")
        images["autoscaler.image"] = chosen or scaler.get("image", autoscaler.IMAGE)
    if "queue" in config and config["queue"].get("install", True):
        images["queue.image"] = config["queue"].get("image", queue.IMAGE)
    if "overflow" in config.get("queue", {}):
        images["queue.overflow.image"] = config["queue"]["overflow"].get("image", overflow.IMAGE)
    if "notebooks" in config:
        hub = config["notebooks"]
        images |= {f"notebooks.images.{number}": image for number, image in enumerate(hub["images"])}
        for part, image in _HUB.items():
            images[f"notebooks.values.{part}.image.name"] = _at(hub.get("values", {}), f"{part}.image.name") or image
    return images


def _at(values: Mapping[str, Any], path: str) -> str:
    """The text at a path of a chart's values; "" if there is none."""
    found: Any = values
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else ""
