"""What an environment has on its cluster, and what its jobs are told."""

from gpufleet.dashboards.pool_prices import pool_prices
from gpufleet.jobs.pool_info import pool_info
from gpufleet.kubernetes.autoscaler import NAMESPACE, SERVICE_ACCOUNT
from tests.unit.stacks.aws_environment import POOL, program

COMPONENTS = "gpufleet-kubernetes:index:{}".format
ALL = ("Autoscaler", "DcgmExporter", "DevicePlugin", "EfaPlugin", "MpiOperator", "SharedVolume", "Team")
ALL_SOFTWARE = ["device-plugin", "efa-plugin", "mpi-operator", "autoscaler", "dcgm-exporter"]
MONITORED = [*ALL_SOFTWARE, "monitoring"]
EXISTING = {
    "name": "shared",
    "security_group_id": "sg-0123456789abcdef0",
    "endpoint": "https://shared.eks.example.com",
    "certificate_authority": "Y2VydA==",
}


def installed(made):
    return [kind for kind in ALL if made.of(COMPONENTS(kind))]


def test_all_that_the_pools_need_is_installed():
    assert installed(program()) == list(ALL)


def test_nothing_is_installed_that_no_pool_needs():
    assert installed(program(pools={"trainers": POOL | {"network": "plain"}})) == [
        "Autoscaler", "DcgmExporter", "DevicePlugin", "MpiOperator", "SharedVolume", "Team",
    ]  # fmt: skip
    # Its image brings the device plugin along.
    assert "DevicePlugin" not in installed(program(pools={"trainers": POOL | {"image": "bottlerocket"}}))
    assert installed(program(pools={})) == ["MpiOperator", "SharedVolume", "Team"]


def test_software_can_be_chosen():
    # Of a pool that needs nothing but the operator: an image with the device plugin, and nodes that are there.
    warm = POOL | {"image": "bottlerocket", "network": "plain", "min": 1}
    assert installed(program(software=["mpi-operator"], pools={"trainers": warm})) == [
        "MpiOperator", "SharedVolume", "Team",
    ]  # fmt: skip
    # Somebody else installs everything.
    assert installed(program(software=[])) == ["SharedVolume", "Team"]


def test_software_that_a_pool_needs_cannot_be_left_out():
    assert program.refusal(software=["mpi-operator"]) == [
        "dev: software=[mpi-operator]: lacks device-plugin: no pod gets a GPU on nodes of trainers; add device-plugin, "
        "or leave software out [aws-software-needed]",
        "dev: software=[mpi-operator]: lacks efa-plugin: no pod gets an EFA interface on nodes of trainers, and no "
        "worker is placed; add efa-plugin, or leave software out [aws-software-needed]",
        "dev: software=[mpi-operator]: lacks autoscaler: nothing starts a node of trainers, whose min is 0; add "
        "autoscaler, or leave software out, or give the pools a min [aws-software-needed]",
    ]


def test_device_plugin_leaves_out_the_pools_that_bring_it_along():
    pools = {"trainers": POOL, "rocket": POOL | {"image": "bottlerocket"}}
    pod = program(pools=pools).one("kubernetes:apps/v1:DaemonSet", "dev-device-plugin-daemonset").inputs["spec"]
    (term,) = pod["template"]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"][1] == {"key": "gpufleet.dev/pool", "operator": "NotIn", "values": ["dev-rocket"]}


CLOSED = {"zones": ["use1-az1", "use1-az2", "use1-az3"], "nat": "none"}
ECR = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
NOTEBOOKS = {"host": "n.example.com", "images": [f"{ECR}/notebook:1"]}


def test_without_a_way_out_every_image_lies_in_the_regions_registry():
    fix = "copy the image into ECR in us-east-1 and give its name there, or set network.nat=single [aws-image-reached]"
    public = {
        "device_plugin.image": "nvcr.io/nvidia/k8s-device-plugin",
        "dcgm_exporter.image": "nvcr.io/nvidia/k8s/dcgm-exporter",
        "operator.image": "docker.io/mpioperator/mpi-operator",
        "autoscaler.image": "registry.k8s.io/autoscaling/cluster-autoscaler",
        "queue.image": "registry.k8s.io/kueue/kueue",
        "notebooks.values.hub.image.name": "quay.io/jupyterhub/k8s-hub",
        "notebooks.values.proxy.chp.image.name": "quay.io/jupyterhub/configurable-http-proxy",
    }
    assert program.refusal(network=CLOSED, queue={}, notebooks=NOTEBOOKS) == [
        f"dev: {key}={image}: nodes without NAT cannot reach {image.partition('/')[0]}; {fix}"
        for key, image in public.items()
    ]
    registry = {"values": {"global": {"imageRegistry": ECR}}}
    key = "monitoring.values.global.imageRegistry"
    monitored = program.refusal(network=CLOSED, software=MONITORED)
    assert f"dev: {key}=quay.io/prometheus/prometheus: nodes without NAT cannot reach quay.io; {fix}" in monitored
    assert not [
        line for line in program.refusal(network=CLOSED, software=MONITORED, monitoring=registry) if key in line
    ]
    values = {"hub": {"image": {"name": f"{ECR}/hub"}}, "proxy": {"chp": {"image": {"name": f"{ECR}/proxy"}}}}
    made = program(
        network=CLOSED,
        queue={"image": f"{ECR}/kueue"},
        notebooks=NOTEBOOKS | {"values": values},
        device_plugin={"image": f"{ECR}/device-plugin"},
        dcgm_exporter={"image": f"{ECR}/dcgm-exporter"},
        efa_plugin={"image": f"{ECR}/efa-plugin"},
        operator={"image": f"{ECR}/mpi-operator:0.7.0"},
        autoscaler={"image": f"{ECR}/autoscaler"},
    )
    images = {
        name: inputs["spec"]["template"]["spec"]["containers"][0]["image"]
        for name, inputs in made.inputs("kubernetes:apps/v1:DaemonSet").items()
    }
    assert images == {
        "dev-device-plugin-daemonset": f"{ECR}/device-plugin:v0.20.0",
        "dev-dcgm-exporter-daemonset": f"{ECR}/dcgm-exporter:4.5.3-4.8.2-distroless",
        "dev-efa-plugin-daemonset": f"{ECR}/efa-plugin:v0.5.13",
    }


def test_efa_plugin_comes_from_eks_in_the_region():
    pod = program().one("kubernetes:apps/v1:DaemonSet", "dev-efa-plugin-daemonset").inputs["spec"]["template"]["spec"]
    registry = "602401143452.dkr.ecr.us-east-1.amazonaws.com"
    assert pod["containers"][0]["image"] == f"{registry}/eks/aws-efa-k8s-device-plugin:v0.5.13"


ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"


def test_nodes_may_fill_the_registrys_caches():
    caches = {"repositories": ["training"], "pull_through": {"quay": "quay.io"}}
    made = program(registry=caches)
    assert made.inputs(ROLE_POLICY)["dev-registry-pull-nodes"]["role"] == "dev-cluster-node-role"
    existing = program(registry=caches, existing_cluster=EXISTING)
    assert "dev-registry-pull-trainers" in existing.names(ROLE_POLICY)
    role = {"node_role_arn": "arn:aws:iam::123456789012:role/theirs"}
    for given in (program(registry=caches, cluster=role), program(registry=caches, existing_cluster=EXISTING | role)):
        assert [name for name in given.names(ROLE_POLICY) if "registry" in name] == []
    assert [name for name in program().names(ROLE_POLICY) if "registry" in name] == []


def test_node_health_comes_where_software_names_it():
    made = program(software=[*ALL_SOFTWARE, "node-health"], node_health={"most_percent": 50})
    deployment = made.one("kubernetes:apps/v1:Deployment", "dev-node-health-deployment").inputs
    command = deployment["spec"]["template"]["spec"]["containers"][0]["command"]
    assert command[command.index("--most-percent") + 1] == "50"
    assert "dev-node-health-deployment" not in program().names("kubernetes:apps/v1:Deployment")


STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"


def chart(made):
    (found,) = [
        each for each in made.of("kubernetes:helm.sh/v3:Release") if each.inputs["name"] == "kube-prometheus-stack"
    ]
    return found.inputs["values"]


def prices(values):
    rules = values["additionalPrometheusRulesMap"]["gpufleet"]["groups"][0]["rules"]
    return {each["labels"]["pool"]: each["expr"] for each in rules if "pool" in each["labels"]}


def test_monitoring_comes_where_software_names_it_with_the_pools_prices():
    assert "dev-monitoring-dashboard" not in program().names("kubernetes:core/v1:ConfigMap")
    made = program(software=MONITORED)
    made.one("kubernetes:core/v1:ConfigMap", "dev-monitoring-dashboard")
    # The price of p5.48xlarge in us-east-1, of one of its 8 GPUs, as `gpufleet dashboards` has it.
    info = pool_info("trainers", {**POOL, "label": "dev-trainers"})
    known, _ = pool_prices({"trainers": info}, {})
    assert prices(chart(made)) == {"dev-trainers": f"vector({known['dev-trainers']:.6g})"}
    own = program(software=MONITORED, usd_per_gpu_hour={"trainers": 2.5})
    assert prices(chart(own)) == {"dev-trainers": "vector(2.5)"}
    assert made.names(STORAGE_CLASS) == []
    assert "prometheusSpec" not in chart(made)["prometheus"]


def test_prometheus_has_a_volume_of_ebs_where_it_is_given_a_size():
    made = program(software=MONITORED, monitoring={"storage_gib": 20})
    assert made.one(STORAGE_CLASS, "dev-monitoring-class").inputs["metadata"]["name"] == "gpufleet-monitoring"
    claim = chart(made)["prometheus"]["prometheusSpec"]["storageSpec"]["volumeClaimTemplate"]["spec"]
    assert claim["storageClassName"] == "gpufleet-monitoring"
    assert "aws-ebs-csi-driver" in {each["addonName"] for each in made.inputs("aws:eks/addon:Addon").values()}
    # Its class is the owner's on an existing cluster, and the user's where they name it.
    theirs = program(software=["monitoring"], monitoring={"storage_gib": 20}, existing_cluster=EXISTING)
    assert theirs.names(STORAGE_CLASS) == []
    named = program(software=MONITORED, monitoring={"storage_gib": 20, "storage_class": "fast"})
    assert named.names(STORAGE_CLASS) == []
    assert "aws-ebs-csi-driver" not in {each["addonName"] for each in named.inputs("aws:eks/addon:Addon").values()}


SOFTWARE = ["device-plugin", "efa-plugin", "mpi-operator", "jobset", "autoscaler"]


def test_jobset_comes_where_software_names_it_and_before_the_queue():
    made = program(software=SOFTWARE, jobset={"version": "0.12.1"}, queue={})
    release = "kubernetes:helm.sh/v3:Release"
    inputs = made.one(release, "dev-jobset-release").inputs
    assert (inputs["version"], inputs["values"]) == ("0.12.1", {"commonLabels": {"gpufleet.dev/environment": "dev"}})
    # Kueue looks for kinds of jobs when it starts, and then ever less often.
    first = {"dev-jobset-release", "dev-mpi-operator-clusterrole-mpi-operator"}
    assert first <= made.one(COMPONENTS("Queue")).depends_on
    assert "dev-jobset-release" not in program(queue={}).names(release)
    assert program.refusal(network=CLOSED, software=SOFTWARE)[2] == (
        "dev: jobset.image=registry.k8s.io/jobset/jobset: nodes without NAT cannot reach registry.k8s.io; copy the "
        "image into ECR in us-east-1 and give its name there, or set network.nat=single [aws-image-reached]"
    )


def test_an_existing_cluster_keeps_its_owners_software():
    assert installed(program(existing_cluster=EXISTING)) == ["SharedVolume", "Team"]
    assert installed(program(existing_cluster=EXISTING, software=["autoscaler"])) == [
        "Autoscaler", "SharedVolume", "Team",
    ]  # fmt: skip


def test_plugins_and_jobs_tolerate_the_pools_own_taints():
    taint = {"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}
    made = program(pools={"trainers": POOL | {"taints": [taint]}, "others": POOL | {"taints": [taint]}})
    for name in ("dev-device-plugin-daemonset", "dev-efa-plugin-daemonset"):
        pod = made.one("kubernetes:apps/v1:DaemonSet", name).inputs["spec"]["template"]["spec"]
        assert [each["key"] for each in pod["tolerations"]] == ["nvidia.com/gpu", "team"]


def test_what_is_on_the_cluster_comes_after_it_and_the_team_after_the_pools():
    made = program()
    before = {"dev-cluster-cluster", "dev-cluster-system", "dev-cluster-coredns", "dev-files-mount-use1-az3"}
    platform = made.one(COMPONENTS("TrainingPlatform"))
    assert before <= platform.depends_on
    # What a component waits for, its parts wait for; they go before it does.
    parts = {kind: made.one(COMPONENTS(kind)) for kind in ALL}
    assert {each.parent for each in parts.values()} == {platform.name}
    after_nodes = {kind for kind, each in parts.items() if "dev-trainers-nodes" in each.depends_on}
    assert "dev-trainers-nodes" not in platform.depends_on
    assert after_nodes == {"Team"}


def test_the_claim_goes_with_the_teams_namespace():
    made = program()
    assert made.one("kubernetes:core/v1:PersistentVolumeClaim").deleted_with == "dev-team-namespace"
    volume = made.one("kubernetes:core/v1:PersistentVolume")
    assert volume.deleted_with == ""
    assert volume.inputs["spec"]["csi"]["volumeHandle"] == "dev-files-files-id::dev-files-access-id"
    assert "dev-team-namespace" not in volume.depends_on


def test_the_root_of_the_files_without_an_access_point():
    made = program(files={"access_point": False})
    volume = made.one("kubernetes:core/v1:PersistentVolume")
    assert volume.inputs["spec"]["csi"]["volumeHandle"] == "dev-files-files-id"


def test_the_autoscaler_has_the_rights_of_its_service_account():
    made = program()
    bound = made.one("aws:eks/podIdentityAssociation:PodIdentityAssociation").inputs
    assert (bound["namespace"], bound["serviceAccount"]) == (NAMESPACE, SERVICE_ACCOUNT)
    release = made.one("kubernetes:helm.sh/v3:Release")
    assert release.inputs["values"]["autoDiscovery"] == {"clusterName": "dev"}


def test_jobs_wait_in_a_queue_where_there_is_one():
    pools = {"near": POOL | {"max": 2}, "small": POOL | {"types": ["g5.12xlarge", "g5.24xlarge"], "network": "plain"}}
    pools["small"] |= {"placement": "none", "capacity": "spot", "max": 3, "zones": ["use1-az1"]}
    assert program(pools=pools).of(COMPONENTS("Queue")) == []
    made = program(pools=pools, queue={"order": ["small"]})
    (queue,) = [each for each in made.resources if each.type.endswith(":ClusterQueue")]
    flavors = queue.inputs["spec"]["resourceGroups"][0]["flavors"]
    gpus = [(each["name"], each["resources"][0]["nominalQuota"]) for each in flavors]
    # g5.24xlarge has 4 GPUs, as g5.12xlarge; p5.48xlarge has 8.
    assert gpus == [("dev-queue-small", "12"), ("dev-queue-near", "16"), ("dev-queue-cpu", "0")]
    (flavor,) = [each for each in made.resources if each.name == "dev-queue-flavor-near"]
    assert flavor.inputs["spec"]["nodeLabels"] == {
        "gpufleet.dev/gpu": "H100",
        "gpufleet.dev/place": "cloud",
        "gpufleet.dev/pool": "dev-near",
        "gpufleet.dev/zone-id": "use1-az3",
    }
    assert made.outputs["dev-queue"] == {"queue": "dev-queue"}


def test_a_queue_of_what_it_cannot_count_is_refused_before_anything_is_made():
    pools = {"small": POOL | {"types": ["g5.xlarge", "g6.xlarge"], "capacity": "spot", "network": "plain"}}
    pools["small"] |= {"placement": "none", "zones": ["use1-az1", "use1-az2"]}
    lines = program.refusal(pools=pools, queue={"order": ["big"]})
    assert "dev: queue.order=big: is not an allowed value; use small [any-argument-word]" in lines
    assert {line.partition("[any-queue-pool-")[2] for line in lines} == {"", "zone]", "gpu]"}


LAYERS = [f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3)]


def test_a_queue_with_a_topology_places_jobs_by_its_last_level():
    pools = {"near": POOL | {"min": 2, "max": 2}}
    made = program(pools=pools, queue={"topology_levels": LAYERS})
    (topology,) = [each for each in made.resources if each.type.endswith(":Topology")]
    levels = [level["nodeLabel"] for level in topology.inputs["spec"]["levels"]]
    assert levels == ["gpufleet.dev/zone-id", *LAYERS, "kubernetes.io/hostname"]
    assert made.result["jobs"]["topology"] == LAYERS[-1]
    assert program(pools=pools, queue={"topology_levels": []}).result["jobs"]["topology"] == "gpufleet.dev/zone-id"
    assert "topology" not in program(pools=pools, queue={}).result["jobs"]


def test_a_topology_of_nodes_that_may_be_missing_is_refused():
    lines = program.refusal(pools={"near": POOL | {"max": 2}}, queue={"topology_levels": LAYERS})
    assert [line for line in lines if line.startswith("dev-near: min=0: is less than max=2")]
