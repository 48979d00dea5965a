"""A Helm chart as one resource: helm.v3.Release, with a pinned version."""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_kubernetes import helm


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
    return helm.v3.Release(
        name,
        chart=chart,
        version=version,
        name=chart.rpartition("/")[2],
        namespace=namespace,
        create_namespace=namespace != "kube-system",
        atomic=waits,
        skip_await=None if waits else True,
        timeout=600,
        values=values,
        repository_opts={"repo": repository} if repository else None,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(transformations=[_without_compat])),
    )


def _without_compat(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
    """The inputs without `compat`, a constant of the SDK that no provider reads.

    A release that was made without it would be upgraded for nothing.
    """
    inputs = {key: value for key, value in args.props.items() if key != "compat"}
    return pulumi.ResourceTransformationResult(inputs, args.opts)
