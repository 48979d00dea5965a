"""A Helm chart as one plain resource: helm.v3.Release, with a pinned version."""

from collections.abc import Mapping
from typing import Any

import pulumi


def chart_release(
    name: str,
    chart: str,
    version: str,
    namespace: str,
    values: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
    repository: str | None = None,
    *,
    waits: bool = True,
) -> pulumi.CustomResource:
    """The release of a chart by its name in `repository`, or by an address oci://... without one.

    Atomic: a release that does not come up is taken back, so that the next `up` starts clean. The release has the name
    of the chart, not one with a random suffix, so that labels and service accounts can be known beforehand. Without
    `waits` it is neither waited for nor taken back: its pods may have no node yet.
    """
    inputs: dict[str, Any] = {
        "chart": chart,
        "version": version,
        "name": chart.rpartition("/")[2],
        "namespace": namespace,
        "createNamespace": namespace != "kube-system",
        "atomic": waits,
        "timeout": 600,
        "values": dict(values),
    }
    if not waits:
        inputs["skipAwait"] = True
    if repository:
        inputs["repositoryOpts"] = {"repo": repository}
    return pulumi.CustomResource("kubernetes:helm.sh/v3:Release", name, inputs, opts)
