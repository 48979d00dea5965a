"""TrainingPlatform: what an environment has on its Kubernetes cluster, on EKS, AKS or on-prem servers."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.autoscaler import Autoscaler
from gpufleet.kubernetes.dcgm_exporter import DcgmExporter, DcgmExporterArgs
from gpufleet.kubernetes.device_plugin import DevicePlugin, DevicePluginArgs
from gpufleet.kubernetes.efa_plugin import EfaPlugin, EfaPluginArgs
from gpufleet.kubernetes.gpu_operator import GpuOperator
from gpufleet.kubernetes.jobset_controller import JobSetController, JobSetControllerArgs
from gpufleet.kubernetes.monitoring import Monitoring, MonitoringConfig
from gpufleet.kubernetes.mpi_operator import MpiOperator
from gpufleet.kubernetes.node_health import NodeHealth, NodeHealthArgs
from gpufleet.kubernetes.notebooks import Notebooks
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.kubernetes.queue import Queue, QueueConfig, local_queue
from gpufleet.kubernetes.remote_write import RemoteWrite
from gpufleet.kubernetes.shared_volume import SharedVolume, SharedVolumeArgs
from gpufleet.kubernetes.team import Team, TeamConfig
from gpufleet.kubernetes.uid_admission_policy import CLAIM
from gpufleet.platform.arguments import TrainingPlatformArgs
from gpufleet.platform.jobs_output import jobs_of_team, jobs_output
from gpufleet.platform.monitoring import gpu_prices, monitoring_config, needs_ebs_class
from gpufleet.platform.notebooks import (
    hub_config,
    hub_nodes,
    hub_place,
    needs_cloud_volume,
    notebook_pools,
)
from gpufleet.platform.pools import (
    bottlerocket_pools,
    findings_of_queue,
    needed_software,
    onprem_gpus,
    taints_of,
)
from gpufleet.platform.queue import overflow_output, queue_pools, topology_output
from gpufleet.platform.storage_classes import AKS_CLASS, EBS_CLASS, EBS_CLASS_OF_MONITORING, plan_ebs_class
from gpufleet.platform.teams import findings_of_teams, labels_of, suffix, teams_of, users_of
from gpufleet.platform.webhook_nodes import WebhookNodes, places_of, webhook_nodes
from gpufleet.pools.node_labels import CLOUD
from gpufleet.pulumi_outputs import all_dependencies
from gpufleet.rules.kubernetes.queue_flavors import validate_queue_order
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.typed_dicts import pick
from gpufleet.validation import validate_stack


class TrainingPlatform(Component, package="kubernetes"):
    """Device plugins, the MPI operator, the autoscaler and a queue; for each team a namespace, a volume and notebooks.

    Give it the cluster's provider: ``opts=pulumi.ResourceOptions(provider=cluster_provider(...))``, and in `depends_on`
    what has to be there before anything is installed and to stay until it is gone: cluster, add-ons, file system.
    """

    jobs: dict[str, pulumi.Output[Any]]
    """Settings of `gpufleet jobs`: export it as the stack output `jobs`."""
    notebooks: dict[str, pulumi.Output[Any]]
    """Of each team's hub, by namespace, `address`, and `port_forward`, the command that leads there if it has none."""

    def __init__(
        self,
        name: str,
        args: TrainingPlatformArgs = KEYWORDS,
        opts: Opts = None,
        **keywords: Unpack[TrainingPlatformArgs],
    ) -> None:
        super().__init__(name, args, opts, keywords)

    def create(self, name: str, args: TrainingPlatformArgs) -> None:
        point = "access_point" in args["files"]
        validate_stack(findings_of_teams(args["environment"], args, args["pools"], access_point=point))
        operators = self._software(name, args)
        queue = self._queue(name, args, operators)
        hubs = self._storage_class(name, args)
        self.notebooks = {}
        made = {namespace: self._team(name, args, namespace, queue, hubs) for namespace in teams_of(args)}
        self.jobs = {key: pulumi.Output.from_input(value) for key, value in jobs_output(args, made).items()}

    @property
    def notebooks_output(self) -> dict[str, Any]:
        """The stack output `notebooks`; nothing without notebooks."""
        return {"notebooks": self.notebooks} if self.notebooks else {}

    def child(self, **options: Any) -> pulumi.ResourceOptions:  # noqa: ANN401 - whatever ResourceOptions takes
        # Where an environment's platform is not a component yet, its parts stand alone in the state.
        return super().child(**options, aliases=[pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE)])

    def _software(self, name: str, args: TrainingPlatformArgs) -> list[pulumi.Resource]:
        """What serves all teams. Returns what brings kinds of jobs, for which a queue looks when it starts."""
        software = args.get("software", needed_software(args["pools"], autoscaler="autoscaler" in args))
        labels, taints = args.get("labels", {}), taints_of(args["pools"])
        nodes = {"tolerations": taints, "labels": labels}
        # Labels of charts are on pods, too, which a change restarts.
        of_pods = {"gpufleet.dev/environment": args["environment"]}
        if "device-plugin" in software:
            there = {**nodes, "excluded_pools": bottlerocket_pools(args["pools"])}
            gpus = pick(DevicePluginArgs, {**args.get("device_plugin", {}), **there})
            DevicePlugin(f"{name}-device-plugin", **gpus, opts=self.child())
        if "dcgm-exporter" in software:
            metrics = pick(DcgmExporterArgs, {**args.get("dcgm_exporter", {}), **nodes})
            DcgmExporter(f"{name}-dcgm-exporter", **metrics, opts=self.child())
        if "node-health" in software:
            known = {"pools": onprem_gpus(args["pools"]), "labels": labels}
            health = pick(NodeHealthArgs, {**args.get("node_health", {}), **known})
            NodeHealth(f"{name}-node-health", **health, opts=self.child())
        if "monitoring" in software:
            self._monitoring(name, args)
        if "efa-plugin" in software:
            region = {"region": args["region"]} if args.get("cloud") == "aws" and "region" in args else {}
            efa = pick(EfaPluginArgs, {**args.get("efa_plugin", {}), **nodes, **region})
            EfaPlugin(f"{name}-efa-plugin", **efa, opts=self.child())
        if "gpu-operator" in software:
            operator = args.get("gpu_operator", {})
            GpuOperator(f"{name}-gpu-operator", **operator, tolerations=taints, labels=of_pods, opts=self.child())
        if "autoscaler" in software and "autoscaler" in args:
            Autoscaler(f"{name}-autoscaler", **args["autoscaler"], opts=self.child())
        kinds: list[pulumi.Resource] = []
        if "mpi-operator" in software:
            operator_args = args.get("operator", {})
            kinds.append(MpiOperator(f"{name}-mpi-operator", **operator_args, labels=labels, opts=self.child()))
        if "jobset" in software:
            where = {**args.get("jobset", {}), "labels": of_pods, **_webhook_nodes(args)}
            kinds.append(JobSetController(f"{name}-jobset", **pick(JobSetControllerArgs, where), opts=self.child()))
        return kinds

    def _queue(self, name: str, args: TrainingPlatformArgs, operators: Sequence[pulumi.Resource]) -> Queue | None:
        if "queue" not in args:
            return None
        environment, pools = args["environment"], args["pools"]
        order = validate_queue_order(args["queue"].get("order"), list(pools))
        validate_stack(
            [
                *(ResourceFinding(environment, each) for each in order),
                *findings_of_queue(environment, pools, args["queue"].get("topology_levels")),
            ]
        )
        return Queue(
            f"{name}-queue",
            **pick(QueueConfig, args["queue"]),
            **queue_pools(args, args["queue"], pools),
            **_webhook_nodes(args),
            # Queues of namespaces come after these.
            local=False,
            labels=args.get("labels", {}),
            opts=self.child(depends_on=operators),
        )

    def _storage_class(self, name: str, args: TrainingPlatformArgs) -> list[pulumi.Resource]:
        """What hubs claim their volumes of, if the cluster has no class for them."""
        if not args.get("ebs_driver") or "notebooks" not in args or not needs_cloud_volume(args["notebooks"]):
            return []
        return [self._ebs_class(f"{name}-storage-class", args, EBS_CLASS)]

    def _ebs_class(self, name: str, args: TrainingPlatformArgs, storage_class: str) -> pulumi.Resource:
        document = plan_ebs_class(storage_class, args["environment"], args["project"])
        return kubernetes_object(name, labelled(document, args.get("labels", {})), self.child())

    def _monitoring(self, name: str, args: TrainingPlatformArgs) -> None:
        wanted, ebs = args.get("monitoring", {}), args.get("ebs_driver", False)
        own_class = ebs and needs_ebs_class(wanted)
        before = [self._ebs_class(f"{name}-monitoring-class", args, EBS_CLASS_OF_MONITORING)] if own_class else []
        Monitoring(
            f"{name}-monitoring",
            **pick(MonitoringConfig, monitoring_config(wanted, ebs=ebs)),
            **_remote_write(args),
            **_webhook_nodes(args),
            environment=args["environment"],
            usd_per_gpu_hour=gpu_prices(args["pools"], args.get("usd_per_gpu_hour", {})),
            labels=args.get("labels", {}),
            opts=self.child(depends_on=before),
        )

    def _team(
        self,
        name: str,
        args: TrainingPlatformArgs,
        namespace: str,
        queue: Queue | None,
        hubs: Sequence[pulumi.Resource],
    ) -> dict[str, pulumi.Input[Any]]:
        """A team's namespace, volume, queue and hub, and what its jobs need to know of them."""
        end, labels, volume = suffix(args, namespace), args.get("labels", {}), args.get("volume", {})
        before = [*all_dependencies(args.get("node_groups", {}).values()), *([queue] if queue else [])]
        team = Team(
            f"{name}-team{end}",
            **pick(TeamConfig, teams_of(args)[namespace]),
            namespace=namespace,
            volume_claim=volume.get("claim", CLAIM),
            labels=labels_of(args, namespace, labels),
            opts=self.child(depends_on=before),
        )
        links = {"source": args["files"], "namespace": namespace, "labels": labels_of(args, namespace, labels)}
        zone = {"zone": args["files_zone"]} if "files_zone" in args else {}
        files = SharedVolume(
            f"{name}-volume{end}",
            **pick(SharedVolumeArgs, {**volume, **links, **zone}),
            opts=self.child(deleted_with=team.namespace_object),
        )
        inside = self.child(depends_on=[team, *hubs], deleted_with=team.namespace_object)
        made: dict[str, pulumi.Input[Any]] = {
            "namespace": team.namespace,
            "service_account": team.service_account,
            "image_pull_secret": team.pull_secret,
            "volume_claim": files.claim,
        }
        if queue is not None:
            made["queue"] = local_queue(f"{name}-queue", namespace, labels, inside)
            made |= topology_output(args) | overflow_output(args, args["pools"], namespace)
        self._notebooks(name, args, namespace, made, inside)
        return made

    def _notebooks(
        self,
        name: str,
        args: TrainingPlatformArgs,
        namespace: str,
        made: Mapping[str, pulumi.Input[Any]],
        opts: pulumi.ResourceOptions,
    ) -> None:
        if "notebooks" not in args:
            return
        team, jobs = teams_of(args)[namespace], jobs_of_team(args, namespace, made)
        rates, cloud = args.get("usd_per_gpu_hour", {}), args.get("cloud", "")
        login: HubLogin = {"pull_secret": made["image_pull_secret"]} if team.get("docker_config") else {}
        own_class = AKS_CLASS if cloud == "azure" else EBS_CLASS if args.get("ebs_driver") else None
        place = hub_place(args["notebooks"], places_of(args["pools"]), cloud)
        hub = Notebooks(
            f"{name}-notebooks{suffix(args, namespace)}",
            **hub_config(
                args["notebooks"],
                namespace,
                several=bool(args.get("teams")),
                storage_class=own_class if place in (None, CLOUD) else None,
            ),
            **hub_nodes(place, args["pools"], args.get("region", "")),
            **users_of(team),
            **pick(Purpose, args),
            **login,
            environment=args["environment"],
            namespace=namespace,
            # Of pods too, which no move of the environment's end restarts.
            labels=labels_of(args, namespace, {"gpufleet.dev/environment": args["environment"]}),
            object_labels=args.get("labels", {}),
            pools=notebook_pools(jobs["pools"], rates, cloud, args.get("region"), place),
            volume_claim=made["volume_claim"],
            jobs=jobs,
            opts=opts,
        )
        way = {"address": hub.address, "port_forward": hub.port_forward}
        self.notebooks[namespace] = pulumi.Output.from_input(way)


class HubLogin(TypedDict, total=False):
    """The login to a registry, if a team has one."""

    pull_secret: pulumi.Input[str]


class Purpose(TypedDict, total=False):
    """Why the environment is there, if it says so."""

    purpose: str


class WrittenMetrics(TypedDict, total=False):
    """Where Prometheus writes, if anywhere else than on its own disk."""

    remote_write: RemoteWrite


def _remote_write(args: TrainingPlatformArgs) -> WrittenMetrics:
    return {"remote_write": args["remote_write"]} if "remote_write" in args else {}


def _webhook_nodes(args: TrainingPlatformArgs) -> WebhookNodes:
    return webhook_nodes(args["pools"], args.get("cloud"), args.get("region", ""))
