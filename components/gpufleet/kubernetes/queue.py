"""Queue: Kueue, so that jobs wait as a whole until all of their workers fit, each team within its quota of GPUs."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.kubernetes.overflow import OverflowConfig, plan_overflow
from gpufleet.pools.node_labels import ZONE_ID
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.queue import validate_queue

VERSION = "0.19.2"
CHART = "oci://registry.k8s.io/kueue/charts/kueue"
IMAGE = "registry.k8s.io/kueue/kueue"
"""The image's repository in that chart."""
_API = "kueue.x-k8s.io/v1beta2"
_CPU = "cpu"
_UNLIMITED = {
    "cpu": "1M",
    "memory": "10Pi",
    "hugepages-2Mi": "10Pi",
    "vpc.amazonaws.com/efa": "1M",
}
"""What Kueue has to know about because jobs ask for it, and what teams do not share: GPUs are the limit."""


class Flavor(TypedDict):
    """GPUs of one kind in one zone."""

    gpu: str
    """GPU model, as the label gpufleet.dev/gpu of the nodes says it, for instance H100."""
    zone: str
    """Zone id of the nodes, for instance use1-az1; of own nodes the label gpufleet.dev/zone-id that they were given."""
    place: NotRequired[str]
    """Place of the nodes, as the label gpufleet.dev/place says it, for instance onprem. Jobs that name a place need
    it. Default: any."""
    pool: NotRequired[str]
    """Pool of the nodes, as their label gpufleet.dev/pool says it: two pools of one GPU in one zone are two flavors.
    Default: any."""


class QueueConfig(TypedDict):
    """Which Kueue, and whether teams lend each other what they do not use."""

    lend: NotRequired[bool]
    """True: a team's jobs may start on quota that other teams leave idle, and keep it until they end: nothing is taken
    from a running job. Default false."""
    install: NotRequired[bool]
    """False: Kueue is on the cluster already. Default true."""
    version: NotRequired[str]
    """Version of Kueue's chart. Default 0.19.2."""
    image: NotRequired[str]
    """Repository of the image, for a closed network; its tag is the chart's. Default registry.k8s.io/kueue/kueue."""
    topology_levels: NotRequired[Sequence[str]]
    """Node labels of the network's levels between zone and node, broadest first; [] for none between. A job's workers
    get nodes that are near each other. On EKS: topology.k8s.aws/network-node-layer-1 to -3. Kueue places on nodes that
    exist and have every label, so no pool may shrink. Default: none; flavors keep a job in one zone all the same."""
    overflow: NotRequired[OverflowConfig]
    """Jobs with pools in order move to the next one when capacity does not come within a time. Default: they wait."""


class QueueArgs(QueueConfig):
    """The same, the kinds of GPUs, and each team's share of them."""

    flavors: Mapping[str, Flavor]
    """A short name of your choice to GPUs of one kind in one zone, for instance {h100: {gpu: H100, zone: use1-az1}}.
    Jobs take the first with room."""
    quotas: Mapping[str, Mapping[str, int]]
    """Namespace of a team to its GPUs of each flavor, for instance {vision: {h100: 64}}; a flavor that is not named
    is 0. The namespaces have to exist."""
    topology: NotRequired[bool]
    """True: as topology_levels=[]. Default false."""
    local: NotRequired[bool]
    """False: the queues in the namespaces are made apart, by `local_queue`, where the namespaces come after this. So a
    namespace goes first, with its jobs: a quota stays as long as a job holds some of it. Default true."""
    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that Kueue itself runs on: the API server has to reach its webhook there. Default: any."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects."""


def plan_values(args: QueueArgs) -> dict[str, Any]:
    """The values of Kueue's chart. `args` has passed the rules.

    The chart takes a node selector; an affinity only after 0.19 (kubernetes-sigs/kueue#14955).
    """
    manager: dict[str, Any] = {}
    if "image" in args:
        manager["manager"] = {"image": {"repository": args["image"]}}
    if args.get("node_selector"):
        manager["nodeSelector"] = dict(args["node_selector"])
    return {"controllerManager": manager} if manager else {}


def levels_of(args: QueueArgs) -> Sequence[str] | None:
    """The levels between zone and node; None: the queue has no topology."""
    return args.get("topology_levels", [] if args.get("topology") else None)


def plan_topology(name: str, between: Sequence[str]) -> dict[str, Any]:
    """The levels of placement: zones, the labels between, and nodes."""
    levels = [{"nodeLabel": label} for label in (ZONE_ID, *between, "kubernetes.io/hostname")]
    return {"apiVersion": _API, "kind": "Topology", "metadata": {"name": name}, "spec": {"levels": levels}}


def plan_flavors(name: str, args: QueueArgs) -> dict[str, dict[str, Any]]:
    """The ResourceFlavors by their short name. `args` has passed the rules.

    One of them, cpu, is for launchers, which need no GPU: any node will do. A flavor's labels become the node selector
    of the pods, and with its taint none is given to a launcher: it tolerates the values that nodes have, at most, and
    workers any. A launcher with a flavor of GPUs could be bound to other nodes than its workers are.
    """
    taint = {"key": "nvidia.com/gpu", "value": "workers", "effect": "NoSchedule"}

    def flavor(short: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        return {"apiVersion": _API, "kind": "ResourceFlavor", "metadata": {"name": f"{name}-{short}"}, "spec": spec}

    flavors = {_CPU: flavor(_CPU, {})}
    for short, kind in args["flavors"].items():
        labels = {"gpufleet.dev/gpu": kind["gpu"], ZONE_ID: kind["zone"]}
        labels |= {f"gpufleet.dev/{key}": str(kind[key]) for key in ("place", "pool") if key in kind}
        spec = {"nodeLabels": labels, "nodeTaints": [taint]}
        flavors[short] = flavor(short, spec | ({"topologyName": name} if levels_of(args) is not None else {}))
    return flavors


def plan_cluster_queue(name: str, args: QueueArgs, namespace: str) -> dict[str, Any]:
    """The ClusterQueue of one team: its quota. `args` has passed the rules.

    All resources are in one group, because with a topology a pod's resources must come from one flavor. BestEffortFIFO:
    a large job that waits does not hold up small ones that fit.

    The flavor for launchers is the last. Kueue 0.19.2 looks at flavors in this order, and where a job did not fit goes
    on behind the one that its launcher had got: none was left, so that jobs with a topology never started, and others
    were said to wait for their launcher (tests/cluster/test_queue.py).
    """
    quota = args["quotas"][namespace]

    def resources(gpus: int) -> list[dict[str, str]]:
        limits = {"nvidia.com/gpu": str(gpus), **_UNLIMITED}
        return [{"name": resource, "nominalQuota": limit} for resource, limit in limits.items()]

    flavors = [
        {"name": f"{name}-{short}", "resources": resources(int(quota.get(short, 0)))} for short in args["flavors"]
    ]
    flavors.append({"name": f"{name}-{_CPU}", "resources": resources(0)})
    # Without reclaimWithinCohort, whose default is Never, what is lent comes back when the job ends.
    lent = {"cohortName": name} if args.get("lend", False) else {}
    return {
        "apiVersion": _API,
        "kind": "ClusterQueue",
        "metadata": {"name": f"{name}-{namespace}"},
        "spec": lent
        | {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "queueingStrategy": "BestEffortFIFO",
            "resourceGroups": [{"coveredResources": ["nvidia.com/gpu", *_UNLIMITED], "flavors": flavors}],
        },
    }


def plan_local_queue(name: str, namespace: str) -> dict[str, Any]:
    """The LocalQueue of one team, called like the component: what its jobs name."""
    metadata = {"name": name, "namespace": namespace}
    spec = {"clusterQueue": f"{name}-{namespace}"}
    return {"apiVersion": _API, "kind": "LocalQueue", "metadata": metadata, "spec": spec}


def local_queue(
    name: str, namespace: str, labels: Mapping[str, str], opts: pulumi.ResourceOptions
) -> pulumi.Output[str]:
    """Make the queue of one team, of the component `name`; its name, for jobs. In Python only."""
    made = kubernetes_object(f"{name}-queue-{namespace}", labelled(plan_local_queue(name, namespace), labels), opts)
    return with_dependencies(pulumi.Output.from_input(name), made)


class Queue(Component):
    """Kueue, with a flavor for each kind of GPU and zone, and for each team a quota and a queue in its namespace.

    A job with the queue's name is made suspended and starts when all of it fits; jobs without a queue are not Kueue's.
    """

    queue: pulumi.Output[str]
    """Name of the queue in every team's namespace, for jobs."""

    def __init__(self, name: str, args: QueueArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[QueueArgs]) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: QueueArgs) -> list[Finding]:
        return validate_queue(name, args)

    def create(self, name: str, args: QueueArgs) -> None:
        needed = self._installed(name, args)
        levels = levels_of(args)
        if levels is not None:
            needed = [self._object(f"{name}-topology", plan_topology(name, levels), needed)]
        if "overflow" in args:
            made = needed
            for short, document in plan_overflow(name, args["overflow"], args.get("node_selector", {})).items():
                made = [self._object(f"{name}-overflow-{short}", document, made)]
        flavors = [
            self._object(f"{name}-flavor-{short}", document, needed)
            for short, document in plan_flavors(name, args).items()
        ]
        queues: list[pulumi.Resource] = []
        for namespace in args["quotas"]:
            quota = self._object(f"{name}-quota-{namespace}", plan_cluster_queue(name, args, namespace), flavors)
            if args.get("local", True):
                quota = self._object(f"{name}-queue-{namespace}", plan_local_queue(name, namespace), [quota])
            queues.append(quota)
        self.queue = with_dependencies(pulumi.Output.from_input(name), *queues)

    def _installed(self, name: str, args: QueueArgs) -> Sequence[pulumi.Resource]:
        """Kueue itself: its definitions, and the webhook that every queue object goes through."""
        if not args.get("install", True):
            return []
        version = args.get("version", VERSION)
        return [chart_release(f"{name}-release", CHART, version, "kueue-system", plan_values(args), self.child())]

    def _object(self, child: str, document: Mapping[str, Any], needed: Sequence[pulumi.Resource]) -> pulumi.Resource:
        document = labelled(document, self.args.get("labels", {}))
        return kubernetes_object(child, document, self.child(depends_on=list(needed)))
