"""Cluster: an EKS control plane with its add-ons and a small node group for the cluster's own pods."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, Unpack, cast, get_args

import pulumi
from pulumi_aws import cloudwatch, eks, kms

from gpufleet.aws.addons import addons, node_addons, pod_addons, storage_drivers
from gpufleet.aws.cluster_admins import grant_admins
from gpufleet.aws.iam_roles import role_with_policies, trust, trust_in_account
from gpufleet.aws.kubeconfig import kubeconfig
from gpufleet.aws.links import ClusterLink, ClusterNetwork, FilesClient
from gpufleet.aws.remote_networks import RemoteNetworks, remote_network_config
from gpufleet.aws.system_nodes import NODE_POLICIES, SystemNodes, system_node_group
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pools.node_labels import CLOUD, PREFIX
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding, validate_cluster
from gpufleet.rules.aws.cluster import rejected_zones, validate_control_zones
from gpufleet.rules.aws.cluster_access import validate_cluster_access
from gpufleet.rules.aws.remote_networks import validate_joined_cluster
from gpufleet.rules.aws.service_cidr import validate_services
from gpufleet.rules.aws.system_nodes import validate_system_nodes
from gpufleet.rules.coerce import mapping, text, texts

LogType = Literal["api", "audit", "authenticator", "controllerManager", "scheduler"]
"""The control-plane logs of EKS (docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html)."""

SERVICE = "eks.amazonaws.com"
KEY_DELETION_DAYS = 30
"""Days in which the deletion of the own KMS key can be taken back, the longest that KMS allows."""

Support = Literal["STANDARD", "EXTENDED"]


class ClusterConfig(TypedDict):
    """An EKS cluster, who may use it, and the nodes of its own pods."""

    zones: NotRequired[Sequence[str]]
    """Zones of the control plane and of the system nodes, at least two. Default: all of ``subnet_ids``; in an
    environment those of its network in which EKS puts control planes. GPU nodes may lie in others, for instance in
    use1-az3. A change replaces the system nodes."""
    version: NotRequired[str]
    """Kubernetes version, for instance 1.35; one minor version higher upgrades the control plane, then the nodes.
    Default: what EKS takes for new clusters; it is then not upgraded by us."""
    admins: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Short name of your choice to the ARN of an IAM role or user who administers the cluster."""
    creator_is_admin: NotRequired[bool]
    """Whether the identity that runs the first `up` administers the cluster. Default true. It counts when
    the cluster is made, and a later change has no effect: name it among ``admins``."""
    public_access_cidrs: NotRequired[Sequence[str]]
    """IPv4 ranges that reach the API server over the internet. Default none: then it has no public endpoint."""
    private_endpoint: NotRequired[bool]
    """Whether the API server is reached inside the VPC and what is linked to it. Default true. False only with own
    servers that join over the internet: then the VPC's nodes come over it too."""
    service_cidr: NotRequired[str]
    """IPv4 range of Kubernetes services, /12 to /24. Default: EKS's choice. A change replaces the cluster."""
    cluster_role_arn: NotRequired[pulumi.Input[str]]
    """An existing role of the control plane, with AmazonEKSClusterPolicy. Default: made here."""
    node_role_arn: NotRequired[pulumi.Input[str]]
    """An existing role of the nodes, with AmazonEKSWorkerNodePolicy and rights to pull images. Default: made here."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """An existing key that encrypts Kubernetes secrets. Default: made here, rotated every year. Cannot be changed."""
    log_types: NotRequired[Sequence[LogType]]
    """Control-plane logs: api, audit, authenticator, controllerManager, scheduler. Default all."""
    log_retention_days: NotRequired[int]
    """Days that they are kept. Default 30."""
    log_kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for the encryption of the control plane's logs. Its policy lets logs.REGION.amazonaws.com
    use it: docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html. Default: a key of AWS."""
    addon_versions: NotRequired[Mapping[str, str]]
    """Add-on to version, for instance {"vpc-cni": "v1.20.4-eksbuild.1"}. Default: what EKS takes for the cluster."""
    node_monitoring: NotRequired[bool]
    """Whether the add-on eks-node-monitoring-agent runs, by which node repair, which is on for every node group, learns
    of broken GPUs and not only of nodes that are not Ready. It starts a second DCGM host engine on each GPU node.
    Default false."""
    support: NotRequired[Support]
    """STANDARD or EXTENDED: at the end of standard support upgrade by itself, or pay for twelve months more. Default
    STANDARD."""
    deletion_protection: NotRequired[bool]
    """Refuse to delete the cluster, in AWS and in Pulumi. Default false."""
    system_types: NotRequired[Sequence[str]]
    """x86 instance types of the system nodes, of equal size. Default m7i.large."""
    system_min: NotRequired[int]
    """Least number of system nodes. Default 2."""
    system_desired: NotRequired[int]
    """Number of system nodes at first; an autoscaler may move it. Default ``system_min``."""
    system_max: NotRequired[int]
    """Greatest number of system nodes. Default 3, or ``system_min`` if that is more."""
    system_disk_gib: NotRequired[int]
    """Root volume of a system node in GiB. Default 50."""


class ClusterArgs(ClusterConfig, ClusterNetwork):
    """The same, where it is made, and what joins it."""

    region: NotRequired[str]
    """Region of the cluster, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    cluster_name: NotRequired[str]
    """Name in AWS, 1 to 100 letters, digits, - and _. Default: the component's name and the stack's. A change
    replaces the cluster."""
    remote_networks: NotRequired[RemoteNetworks]
    """Networks of on-prem servers that join the cluster (EKS hybrid nodes). Default none. Changed in place."""
    efs_driver: NotRequired[bool]
    """Whether pods mount EFS, by an add-on that does not run on on-prem servers. Default true."""
    ebs_driver: NotRequired[bool]
    """Whether pods claim volumes of EBS, by an add-on; EKS has none by itself. Default false."""
    fsx_driver: NotRequired[bool]
    """Whether pods mount FSx for Lustre, by an add-on. Default false."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def physical_name(name: str, args: ClusterArgs) -> str:
    """The cluster's name in AWS: as given, or from component and stack, so that two stacks of an account differ."""
    return args.get("cluster_name") or re.sub(r"[^0-9A-Za-z-]", "-", f"{name}-{pulumi.get_stack()}")[:100]


def system_nodes(args: ClusterArgs) -> SystemNodes:
    """The system nodes with defaults filled in. Numbers from other Pulumi languages arrive as floats."""
    least = int(args.get("system_min", SystemNodes.min))
    return SystemNodes(
        types=tuple(args.get("system_types", SystemNodes.types)),
        min=least,
        desired=int(args.get("system_desired", least)),
        max=int(args.get("system_max", max(SystemNodes.max, least))),
        disk_gib=int(args.get("system_disk_gib", SystemNodes.disk_gib)),
    )


class Cluster(FilesClient, Component):
    """An EKS cluster with access entries, private endpoint, encrypted secrets, log retention and add-ons."""

    cluster_name: pulumi.Output[str]
    """Name in AWS, known as soon as the control plane is."""
    ready: pulumi.Output[str]
    """The same name, for node groups: they are made after the add-ons without which nodes never join."""
    endpoint: pulumi.Output[str]
    """URL of the API server."""
    certificate_authority: pulumi.Output[str]
    """Certificate of the API server, base64."""
    service_cidr: pulumi.Output[str]
    """IPv4 range of Kubernetes services; nodes with an image of their own need it to join."""
    cluster_security_group_id: pulumi.Output[str]
    """The group that EKS makes, between control plane and nodes."""
    node_role_arn: pulumi.Output[str]
    """Role for node groups, which are deleted before it loses its policies."""
    node_role_name: pulumi.Output[str]
    """Name of that role."""
    kubeconfig: pulumi.Output[str]
    """A kubeconfig (JSON), secret; it asks the AWS CLI for tokens."""
    version: pulumi.Output[str]
    """Kubernetes version."""

    def __init__(
        self, name: str, args: ClusterArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[ClusterArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: ClusterArgs) -> list[Finding]:
        usual = SystemNodes()
        subnets = list(mapping(args, "subnet_ids"))
        zones, chosen = texts(args, "zones"), args.get("zones") is not None
        left_out = rejected_zones(text(args, "region"), subnets)
        return [
            *(validate_cluster(args, "zones", left_out) if chosen else validate_cluster({**args, "zones": subnets})),
            *validate_control_zones(zones, subnets),
            *validate_cluster_access(args, addons(_drivers(args), monitoring=args.get("node_monitoring", False))),
            *validate_services(args),
            *validate_joined_cluster(args),
            *validate_system_nodes(args, (usual.types, usual.min, usual.max, usual.disk_gib)),
        ]

    def create(self, name: str, args: ClusterArgs) -> None:
        cluster = self._control_plane(name, args)
        self.cluster_name = cluster.name
        self.endpoint = cluster.endpoint
        self.certificate_authority = cluster.certificate_authority.apply(lambda authority: cast(str, authority.data))
        self.cluster_security_group_id = cluster.vpc_config.apply(
            lambda config: cast(str, config.cluster_security_group_id)
        )
        self.service_cidr = cluster.kubernetes_network_config.apply(lambda config: cast(str, config.service_ipv4_cidr))
        # As given, so that a preview knows it; nodes wait for the cluster by its name.
        self.version = pulumi.Output.from_input(args.get("version", cluster.version))
        self.kubeconfig = pulumi.Output.secret(
            pulumi.Output.all(cluster.name, self.endpoint, self.certificate_authority).apply(
                lambda known: kubeconfig(known[0], known[1], known[2], args["region"])
            )
        )
        grant_admins(name, self, cluster, args["region"], args.get("admins", {}))
        self._nodes_and_addons(name, cluster, args)

    @property
    def resources(self) -> Sequence[pulumi.Resource]:
        """What has to be there before anything is installed on the cluster, and to stay until it is gone."""
        return [self]

    def for_nodes(self) -> ClusterLink:
        """What nodes need to join, made once those add-ons are there without which they never do."""
        return {
            "cluster_name": self.ready,
            "cluster_security_group_id": self.cluster_security_group_id,
            "node_role_arn": self.node_role_arn,
            "cluster_endpoint": self.endpoint,
            "cluster_certificate_authority": self.certificate_authority,
            "service_cidr": self.service_cidr,
            "cluster_version": self.version,
        }

    def _control_plane(self, name: str, args: ClusterArgs) -> "eks.Cluster":
        physical = physical_name(name, args)
        cidrs = list(args.get("public_access_cidrs", []))
        protected = args.get("deletion_protection", False)
        log_types = list(args.get("log_types", get_args(LogType)))
        logs = self._log_group(name, physical, log_types, args)
        key = self._key(name, args)
        return eks.Cluster(
            f"{name}-cluster",
            name=physical,
            role_arn=self._cluster_role(name, args, [*logs, *([key] if key else [])]),
            version=args.get("version"),
            vpc_config=eks.ClusterVpcConfigArgs(
                subnet_ids=list(_in_zones(args["subnet_ids"], args)),
                endpoint_private_access=args.get("private_endpoint", True),
                endpoint_public_access=bool(cidrs),
                public_access_cidrs=cidrs or None,
            ),
            access_config=eks.ClusterAccessConfigArgs(
                authentication_mode="API",
                bootstrap_cluster_creator_admin_permissions=args.get("creator_is_admin", True),
            ),
            # The add-ons are resources of this component; EKS would otherwise install unmanaged copies.
            bootstrap_self_managed_addons=False,
            remote_network_config=remote_network_config(args.get("remote_networks")),
            kubernetes_network_config=eks.ClusterKubernetesNetworkConfigArgs(service_ipv4_cidr=args["service_cidr"])
            if "service_cidr" in args
            else None,
            encryption_config=eks.ClusterEncryptionConfigArgs(
                provider=eks.ClusterEncryptionConfigProviderArgs(key_arn=key.arn if key else args["kms_key_arn"]),
                resources=["secrets"],
            ),
            enabled_cluster_log_types=log_types,
            upgrade_policy=eks.ClusterUpgradePolicyArgs(support_type=args.get("support", "STANDARD")),
            deletion_protection=protected,
            tags=self.tags(f"{name}-cluster"),
            opts=self.child(
                # Pulumi then refuses before it has deleted the nodes.
                protect=protected,
                # They matter when EKS makes a cluster, which does not return them: an imported one would be replaced
                # (hashicorp/terraform-provider-aws#35824, #39058).
                ignore_changes=["accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons"],
                # The name is taken until the old one is gone.
                delete_before_replace=True,
                # A control plane that finds no log group makes one, without an end to its logs, and one that outlives
                # its log group makes it again (terraform-aws-modules/terraform-aws-eks#920).
                depends_on=logs,
            ),
        )

    def _cluster_role(
        self, name: str, args: ClusterArgs, made: Sequence["cloudwatch.LogGroup | kms.Key"]
    ) -> pulumi.Input[str]:
        """made: what lies in this account for certain; a key that is given may lie in another."""
        given = args.get("cluster_role_arn")
        if given is not None:
            return given
        trusted: pulumi.Input[str] = trust(SERVICE)
        if made:
            trusted = made[0].arn.apply(lambda arn: trust_in_account(SERVICE, arn))
        policies = ["AmazonEKSClusterPolicy"]
        role = role_with_policies(f"{name}-cluster-role", self, trusted, args["region"], policies)
        # After its policy: EKS checks the role when it makes the cluster, and needs it to take its interfaces away.
        return role.arn

    def _key(self, name: str, args: ClusterArgs) -> "kms.Key | None":
        if args.get("kms_key_arn") is not None:
            return None
        return kms.Key(
            f"{name}-secrets",
            description=f"Kubernetes secrets of {physical_name(name, args)}",
            enable_key_rotation=True,
            deletion_window_in_days=KEY_DELETION_DAYS,
            tags=self.tags(f"{name}-secrets"),
            opts=self.child(),
        )

    def _log_group(
        self, name: str, physical: str, log_types: Sequence[str], args: ClusterArgs
    ) -> list["cloudwatch.LogGroup"]:
        if not log_types:
            return []
        group = cloudwatch.LogGroup(
            f"{name}-logs",
            name=f"/aws/eks/{physical}/cluster",
            retention_in_days=int(args.get("log_retention_days", 30)),
            kms_key_id=args.get("log_kms_key_arn"),
            tags=self.tags(f"{name}-logs"),
            opts=self.child(),
        )
        return [group]

    def _nodes_and_addons(self, name: str, cluster: "eks.Cluster", args: ClusterArgs) -> None:
        region = args["region"]
        versions = args.get("addon_versions", {})
        given = args.get("node_role_arn")
        if given is None:
            role = role_with_policies(f"{name}-node-role", self, trust("ec2.amazonaws.com"), region, NODE_POLICIES)
            self.node_role_arn, self.node_role_name = role.arn, role.role.name
        else:
            self.node_role_arn = pulumi.Output.from_input(given)
            self.node_role_name = self.node_role_arn.apply(lambda arn: arn.rsplit("/", 1)[-1])
        joined_by = node_addons(name, self, cluster, region, versions)
        self.ready = with_dependencies(cluster.name, *joined_by)
        nodes = system_node_group(
            name,
            self,
            cluster,
            system_nodes(args),
            self.version,
            self.node_role_arn,
            list(_in_zones(args.get("node_subnet_ids", args["subnet_ids"]), args)),
            joined_by,
            # Own servers have another place: by it a job's launcher finds the side that its workers are on.
            {f"{PREFIX}place": CLOUD} if "remote_networks" in args else {},
        )
        monitoring = args.get("node_monitoring", False)
        pod_addons(name, self, cluster, region, versions, nodes, _drivers(args), monitoring=monitoring)


def _drivers(args: ClusterArgs) -> Sequence[str]:
    efs, ebs, fsx = args.get("efs_driver", True), args.get("ebs_driver", False), args.get("fsx_driver", False)
    return storage_drivers(efs=efs, ebs=ebs, fsx=fsx)


def _in_zones(subnet_ids: Mapping[str, pulumi.Input[str]], args: ClusterArgs) -> Iterator[pulumi.Input[str]]:
    """The subnets of the cluster's zones."""
    return (subnet_ids[zone] for zone in args.get("zones", subnet_ids))
