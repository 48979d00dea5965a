"""When the stand-in autoscaler adds nodes, and how many."""

from fractions import Fraction

import pytest

from gpufleet.aws.autoscaler_tags import resource_tags
from gpufleet.catalog import aws, azure
from tools.kubernetes.autoscaler import GPU_LABELS, STABLE_SECONDS, Autoscaler, Pool, missing_nodes
from tools.kubernetes.empty_group import made_up_aks_node, made_up_node
from tools.kubernetes.nodes import gpu_node
from tools.kubernetes.scheduling import amount, free, may_run, requests

TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


def pod(gpus: int, **spec):
    container = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    return {"metadata": {"name": "p"}, "spec": {"containers": [container], "tolerations": [TOLERATION], **spec}}


def pool(most: int = 4, **more) -> Pool:
    return Pool(**{"pool": "trainers", "type": "p5.48xlarge", "zone": "use1-az2", "max": most, **more})


def grown(pending, *pools: Pool, counts: tuple[int, ...] = (0,)):
    table = []
    for each, count in zip(pools, counts, strict=True):
        template = each.template()
        table.append((each, template, count, [free(template, ()) for _ in range(count)]))
    return missing_nodes(pending, table)


@pytest.mark.parametrize(
    ("gpus", "most", "there", "added"),
    [
        ([8, 8], 4, 0, {"trainers": 2}),
        ([4, 4, 1], 4, 0, {"trainers": 2}),
        ([8] * 5, 4, 0, {"trainers": 4}),
        ([8] * 5, 4, 4, {}),
        ([8, 8], 4, 1, {"trainers": 1}),
        ([9], 4, 0, {}),
        ([], 4, 0, {}),
    ],
)
def test_nodes_are_added_for_what_finds_no_room(gpus: list[int], most: int, there: int, added: dict[str, int]) -> None:
    assert grown([pod(each) for each in gpus], pool(most), counts=(there,)) == added


def test_first_pool_that_a_pod_may_run_on_grows() -> None:
    other = pool(pool="other", zone="use1-az1")
    pending = [pod(8, nodeSelector={"gpufleet.dev/zone-id": "use1-az1"}), pod(8)]
    assert grown(pending, pool(), other, counts=(0, 0)) == {"other": 1, "trainers": 1}


def test_empty_group_is_known_by_its_type_its_group_and_eks_and_by_nothing_else() -> None:
    prefix = "k8s.io/cluster-autoscaler/node-template"
    node = made_up_node(
        aws().types["p4d.24xlarge"],
        zone_id="use1-az2",
        region="us-east-1",
        group="trainers",
        labels={"team": "vision", "both": "of EKS"},
        taints=[
            {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
            {"key": "unvalued", "effect": "NO_EXECUTE"},
        ],
        tags={
            "Name": "trainers",
            f"{prefix}/resources/hugepages-2Mi": "10256Mi",
            f"{prefix}/resources/example.com/both": "1",
            f"{prefix}/label/of-no-use": "here",
        },
        scaling_tags={
            f"{prefix}/resources/example.com/both": "2",
            f"{prefix}/label/both": "of the tag",
            f"{prefix}/label/tagged": "yes",
            f"{prefix}/taint/tagged": ":NoExecute",
            f"{prefix}/taint/misspelt": "yes:NO_EXECUTE",
        },
    )
    resources = {
        "cpu": "96",
        "memory": "1152Gi",
        "nvidia.com/gpu": "8",
        "pods": "110",
        "hugepages-2Mi": "10256Mi",
        "example.com/both": "1",
    }
    assert node == {
        "metadata": {
            "name": "template",
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": "template",
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "p4d.24xlarge",
                "topology.ebs.csi.aws.com/zone": "us-east-1b",
                "topology.kubernetes.io/region": "us-east-1",
                "topology.kubernetes.io/zone": "us-east-1b",
                "eks.amazonaws.com/nodegroup": "trainers",
                "team": "vision",
                "both": "of EKS",
                "tagged": "yes",
            },
        },
        "spec": {
            "taints": [
                {"key": "tagged", "value": "", "effect": "NoExecute"},
                {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
            ]
        },
        "status": {"capacity": resources, "allocatable": resources},
    }


def efa_pod(**spec):
    """A worker on EFA, as the jobs of gpufleet ask for it."""
    limits = {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32", "hugepages-2Mi": "5120Mi"}
    return {
        **pod(8),
        "spec": {**pod(8, **spec)["spec"], "containers": [{"name": "main", "resources": {"limits": limits}}]},
    }


def test_empty_pool_with_efa_grows_by_its_tags_alone() -> None:
    tags = resource_tags([aws().types["p5.48xlarge"]], efa=True)
    assert grown([efa_pod()], pool(network="efa", tags=tags)) == {"trainers": 1}
    # Each resource of a worker is known by its own tag.
    for key in tags:
        assert grown([efa_pod()], pool(network="efa", tags={each: tags[each] for each in tags if each != key})) == {}


def test_label_that_only_nodes_have_starts_none() -> None:
    assert grown([pod(8, nodeSelector={"topology.k8s.aws/zone-id": "use1-az2"})], pool()) == {}


def test_taint_without_a_value_is_known_by_its_tag_alone() -> None:
    unvalued = [{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}]
    stranger = pod(0, tolerations=[])
    assert grown([stranger], pool(taints=unvalued)) == {}
    assert grown([stranger], pool(taints=unvalued, scaling_tags={})) == {"trainers": 1}


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({}, True),
        ({"tolerations": []}, False),
        ({"tolerations": [{"key": "nvidia.com/gpu", "value": "present"}]}, True),
        ({"tolerations": [{"key": "nvidia.com/gpu", "value": "absent"}]}, False),
        ({"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}]}, False),
        ({"tolerations": [{"operator": "Exists"}]}, True),
        ({"nodeSelector": {"gpufleet.dev/pool": "trainers"}}, True),
        ({"nodeSelector": {"gpufleet.dev/pool": "others"}}, False),
    ],
)
def test_labels_and_taints_let_pods_on(spec: dict[str, object], allowed: bool) -> None:
    assert may_run(pod(8, **spec), pool().template()) is allowed


@pytest.mark.parametrize(
    ("operator", "values", "allowed"),
    [
        ("In", ["H100", "H200"], True),
        ("In", ["A100"], False),
        ("NotIn", ["H100"], False),
        ("NotIn", ["A100"], True),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_node_affinity_lets_pods_on(operator: str, values: list[str], allowed: bool) -> None:
    rule = {"key": "gpufleet.dev/gpu", "operator": operator, "values": values}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}}
    assert may_run(pod(8, affinity={"nodeAffinity": required}), pool().template()) is allowed


def test_unknown_operator_of_an_affinity_is_an_error_not_a_yes() -> None:
    rule = {"key": "gpufleet.dev/gpu", "operator": "Gt", "values": ["1"]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}}
    with pytest.raises(ValueError, match="operator Gt: the stand-in autoscaler knows In, NotIn"):
        may_run(pod(8, affinity={"nodeAffinity": required}), pool().template())


@pytest.mark.parametrize(
    ("text", "number"),
    [("1500m", Fraction(3, 2)), ("2Gi", 2 * 2**30), ("3", 3), (8, 8), ("1e3", 1000), ("5M", 5_000_000)],
)
def test_amounts(text: object, number: Fraction) -> None:
    assert amount(text) == number


def test_requests_win_over_limits_and_init_containers_run_before() -> None:
    main = {"resources": {"limits": {"cpu": "4"}, "requests": {"cpu": "1"}}}
    spec = {"containers": [main, main], "initContainers": [{"resources": {"requests": {"cpu": "3"}}}]}
    assert requests({"spec": spec}) == {"cpu": 3, "pods": 1}


def test_pods_that_have_ended_take_nothing() -> None:
    node = pool().template()
    pods = [{**pod(8), "status": {"phase": "Succeeded"}}, {**pod(2), "status": {"phase": "Running"}}]
    assert free(node, pods)["nvidia.com/gpu"] == 6


def test_empty_pool_of_aks_is_known_by_its_size_and_tags_and_by_nothing_else() -> None:
    tag = "k8s.io_cluster-autoscaler_node-template_resources_"
    node = made_up_aks_node(
        azure().types["Standard_ND96isr_H100_v5"],
        zone_id="eastus-2",
        region="eastus",
        pool="trainers",
        labels={"team": "vision"},
        taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
        tags={f"{tag}rdma_ib": "63", f"{tag}rdma_shared_ib": "63", "owner": "vision"},
    )
    resources = {
        "cpu": "96",
        "memory": "1900Gi",
        "nvidia.com/gpu": "8",
        "pods": "110",
        "rdma/ib": "63",
        # A name with an underscore cannot be told.
        "rdma/shared/ib": "63",
    }
    assert node["status"] == {"capacity": resources, "allocatable": resources}
    assert node["metadata"]["labels"]["team"] == "vision"
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "eastus-2"
    assert node["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]


class Cluster:
    """An API server with one pending pod for 8 GPUs and the nodes of one pool."""

    def __init__(self) -> None:
        self.nodes = []
        reason = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        self.pods = [{**pod(8), "status": {"conditions": [reason]}}]

    def get(self, path, **query):
        return {"items": self.pods if path.endswith("pods") else self.nodes}

    def request(self, method, path, document):
        ready = [{"type": "Ready", "status": "True"}]
        self.nodes.append({**document, "status": {**document["status"], "conditions": ready}})
        return document


BARE = {"driver": True, "efa_interfaces": 0, "huge_pages": 0, "built_in": ()}
"""A machine whose GPUs a device plugin has still to tell of."""


@pytest.mark.parametrize(
    ("labels", "nodes"), [({GPU_LABELS[0]: "nvidia-h100"}, 1), ({GPU_LABELS[1]: "nvidia"}, 1), ({}, 4)]
)
def test_node_that_waits_for_its_device_plugin_counts_only_by_its_label(labels: dict[str, str], nodes: int) -> None:
    cluster = Cluster()
    scaler = Autoscaler(cluster, [pool(labels=labels, machine=BARE)], idle_seconds=999, boot_seconds=0)
    for second in range(10):
        scaler.scan(float(second))
    assert len(cluster.nodes) == nodes


def test_node_that_waits_for_its_device_plugin_is_not_idle() -> None:
    cluster = Cluster()
    cluster.pods, removed = [], []
    cluster.delete = removed.append
    document = gpu_node("trainers-0", "p5.48xlarge", "use1-az2", "trainers", machine=BARE, labels={GPU_LABELS[0]: ""})
    cluster.request("POST", "/api/v1/nodes", document)
    scaler = Autoscaler(cluster, [pool()], idle_seconds=5, boot_seconds=0)
    for second in range(10):
        scaler.scan(float(second))
    assert removed == []
    cluster.nodes[0]["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    for second in range(10, 16):
        scaler.scan(float(second))
    assert removed == ["/api/v1/nodes/trainers-0"]


def test_next_node_is_like_one_that_was_ready_for_a_minute_even_when_that_is_gone() -> None:
    cluster = Cluster()
    cluster.pods = []
    scaler = Autoscaler(cluster, [pool(labels={"made": "up"})], idle_seconds=999, boot_seconds=0)
    node = gpu_node("trainers-0", "p5.48xlarge", "use1-az2", "trainers", labels={"seen": "live"})
    cluster.request("POST", "/api/v1/nodes", node)
    wants = pod(8, nodeSelector={"seen": "live"})
    wants["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}

    def grows_at(now: float) -> bool:
        seen, cluster.nodes, cluster.pods = cluster.nodes, [], [wants]
        scaler.scan(now)
        grown, scaler._booting[:] = bool(scaler._booting), []
        cluster.nodes, cluster.pods = seen, []
        return grown

    scaler.scan(0.0)
    scaler.scan(STABLE_SECONDS - 1)
    assert not grows_at(STABLE_SECONDS - 1)
    scaler.scan(STABLE_SECONDS)
    assert grows_at(STABLE_SECONDS)
