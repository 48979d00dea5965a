"""Where a cluster's Prometheus writes besides its own disk, and as whom."""

from typing import Any, NotRequired, TypedDict

import pulumi

NAMESPACE = "monitoring"
SERVICE_ACCOUNT = "kube-prometheus-stack-prometheus"
"""Service account of the chart's Prometheus. Source: prometheus-community/helm-charts, charts/kube-prometheus-stack/
templates/_helpers.tpl (prometheus.serviceAccountName), of a release with the chart's name."""
RECORDED = ".+:gpufleet_.+"
"""Names of what our rules record: all that the dashboard reads."""


class RemoteWrite(TypedDict):
    """An endpoint of Prometheus' remote write."""

    url: pulumi.Input[str]
    """Its address, for instance https://aps-workspaces.us-east-1.amazonaws.com/workspaces/ws-.../api/v1/remote_write."""
    aws_region: NotRequired[str]
    """Region of AWS whose signature (SigV4) its requests carry, by EKS Pod Identity. Default: none."""


def plan_remote_write(target: RemoteWrite) -> dict[str, Any]:
    """An entry of remoteWrite of Prometheus' resource: what our rules record, and nothing else, which is billed by the
    sample.

    Prometheus signs with the SDK's own chain of credentials (github.com/prometheus/sigv4 since it uses version 2 of
    AWS's SDK for Go; the one before does not know Pod Identity: argoproj/argo-rollouts#4536).
    Sources: prometheus-operator.dev/docs/api-reference/api (RemoteWriteSpec, Sigv4);
    docs.aws.amazon.com/prometheus/latest/userguide/AMP-onboard-ingest-metrics-existing-Prometheus.html;
    docs.aws.amazon.com/eks/latest/userguide/pod-id-minimum-sdk.html.
    """
    recorded = {"sourceLabels": ["__name__"], "regex": RECORDED, "action": "keep"}
    signed = {"sigv4": {"region": target["aws_region"]}} if "aws_region" in target else {}
    return {"url": target["url"], **signed, "writeRelabelConfigs": [recorded]}
