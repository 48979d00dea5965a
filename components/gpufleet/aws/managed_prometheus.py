"""ManagedPrometheus: a workspace of Amazon Managed Service for Prometheus, and who writes to it."""

import json
from collections.abc import Mapping
from typing import Annotated, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import amp

from gpufleet.aws.pod_identity import ServiceAccount, bind_pods, pod_role
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.remote_write import NAMESPACE, SERVICE_ACCOUNT, RemoteWrite
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.aws.managed_prometheus import MOST_DAYS, validate_managed_prometheus
from gpufleet.typed_dicts import NumberRange


class ManagedPrometheusConfig(TypedDict):
    """A workspace of Amazon Managed Service for Prometheus."""

    retention_days: NotRequired[Annotated[int, NumberRange(1, MOST_DAYS)]]
    """Days for which metrics are kept, 1 to 1095. Default: AWS's own, 150."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for encryption at rest. Default: a key that AWS owns; encryption is always on. A change replaces the
    workspace, which protection refuses."""


class ManagedPrometheusArgs(ManagedPrometheusConfig):
    """The same, and the cluster whose Prometheus writes to it."""

    cluster_name: pulumi.Input[str]
    """The EKS cluster, with the add-on eks-pod-identity-agent."""
    region: NotRequired[str]
    """Region of the workspace and of the cluster, for instance us-east-1. Default: the provider's; another one is
    rejected."""
    erase: NotRequired[bool]
    """True: destroy deletes the metrics too, once an up has recorded it. Default false: they are protected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def write_policy(workspace_arn: str) -> str:
    """The role's policy (JSON): write to this workspace, and nothing else.

    Source: docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonPrometheusRemoteWriteAccess.html, of which the
    resource is narrowed.
    """
    statement = {"Effect": "Allow", "Action": ["aps:RemoteWrite"], "Resource": workspace_arn}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


class ManagedPrometheus(Component):
    """A workspace of Amazon Managed Service for Prometheus, and a role for a cluster's Prometheus, bound by EKS Pod
    Identity, to write to it.

    Data outlives compute: the workspace is protected, so that ``pulumi destroy --exclude-protected`` keeps it, and the
    next ``up`` continues.
    """

    workspace_id: pulumi.Output[str]
    """The workspace (ws-...)."""
    endpoint: pulumi.Output[str]
    """Address of the workspace, for a data source of Grafana: requests need AWS's signature (SigV4)."""

    def __init__(
        self,
        name: str,
        args: ManagedPrometheusArgs = KEYWORDS,
        opts: Opts = None,
        **keywords: Unpack[ManagedPrometheusArgs],
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: ManagedPrometheusArgs) -> list[Finding]:
        return validate_managed_prometheus(args)

    def create(self, name: str, args: ManagedPrometheusArgs) -> None:
        cluster = pulumi.Output.from_input(args["cluster_name"])
        workspace = amp.Workspace(
            f"{name}-workspace",
            alias=name,
            kms_key_arn=args.get("kms_key_arn"),
            tags=self.tags(f"{name}-workspace"),
            opts=self.child(protect=not args.get("erase", False)),
        )
        if "retention_days" in args:
            amp.WorkspaceConfiguration(
                f"{name}-configuration",
                workspace_id=workspace.id,
                retention_period_in_days=args["retention_days"],
                opts=self.child(),
            )
        account = ServiceAccount(cluster, NAMESPACE, SERVICE_ACCOUNT)
        rights = workspace.arn.apply(write_policy)
        role = pod_role(self, f"{name}-writer", f"{name}-writer-policy", account, rights)
        association = bind_pods(self, f"{name}-association", account, role)
        self.workspace_id, self.endpoint = workspace.id, workspace.prometheus_endpoint
        # Who writes there comes after its rights, and goes before them.
        self._written = with_dependencies(workspace.prometheus_endpoint, association)
        self._region = args["region"]

    def for_monitoring(self) -> RemoteWrite:
        """Where the Prometheus of `Monitoring` writes."""
        return {"url": pulumi.Output.concat(self._written, "api/v1/remote_write"), "aws_region": self._region}
