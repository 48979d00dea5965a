"""A hub for each team of an environment, where `gpufleet:notebooks` asks for them."""

import json

import pytest

from tests.unit.stacks import azure_stack, lab_environment
from tests.unit.stacks.aws_environment import POOL, program
from tests.unit.stacks.test_platform import EXISTING

NOTEBOOKS = {"host": "hub.example.com", "images": ["registry.example.com/notebook:1"]}
LOGIN = {
    "client_id": "hub",
    "client_secret": "never shown",
    "authorize_url": "https://login.example.com/authorize",
    "token_url": "https://login.example.com/token",
    "userdata_url": "https://login.example.com/userinfo",
}
USERS = {"ana": {"uid": 1501, "gid": 1501}}
READY = {**NOTEBOOKS, "oidc": LOGIN, "tls": {"secret": "hub-tls"}}
FILES = {"access_point": False}


def hubs(made):
    return {each.name: each for each in made.of("kubernetes:helm.sh/v3:Release") if each.inputs["name"] == "jupyterhub"}


def test_one_team_has_a_hub_in_its_namespace():
    made = program(pools={"near": POOL}, notebooks=READY, team={"users": USERS}, files=FILES)
    [hub] = hubs(made).values()
    assert (hub.name, hub.inputs["namespace"]) == ("dev-notebooks-release", "training")
    names = [each["display_name"] for each in hub.inputs["values"]["singleuser"]["profileList"]]
    assert names[0] == "No GPU"
    assert all("USD/h" in name for name in names[1:])
    told = json.loads(made.one("kubernetes:core/v1:ConfigMap", "dev-notebooks-jobs").inputs["data"]["jobs.json"])
    assert told["environment"] == "dev"
    assert told["jobs"]["users"] == USERS
    assert set(told["jobs"]["pools"]) == {"near"}
    assert told["jobs"]["volume_claim"] == "shared"


NO_GPU = {
    "display_name": "No GPU",
    "description": "For editing, and for jobs that run elsewhere: gpufleet.jobs.submit.",
    "default": True,
    "slug": "no-gpu",
    "kubespawner_override": {
        "cpu_guarantee": 0.5,
        "cpu_limit": 2,
        "mem_guarantee": "2048M",
        "mem_limit": "6144M",
    },
}
ANY_GPU_NODE = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def profile(name, count, *, of, billed=True):
    """The profile with the first words of its name, for `count` of a node's GPUs."""
    model, place = name.split(", ")[0].split(" x ")[1], name.split(", ")[1]
    part = f"A part of a node with {of} GPUs" + (", which is billed whole as long as it runs." if billed else ".")
    return {
        "display_name": name,
        "description": "A whole node." if count == of else part,
        "slug": f"{count}-{model.lower()}-{place}",
        "kubespawner_override": {
            "node_selector": {"gpufleet.dev/gpu": model, "gpufleet.dev/place": place},
            "tolerations": [ANY_GPU_NODE],
            "extra_resource_guarantees": {"nvidia.com/gpu": str(count)},
            "extra_resource_limits": {"nvidia.com/gpu": str(count)},
            "cpu_guarantee": count,
            "cpu_limit": 4 * count,
            "mem_guarantee": f"{4096 * count}M",
            "mem_limit": f"{12288 * count}M",
        },
    }


ON_OWN_SERVERS = [
    profile(f"{count} x V100, {place}, price unknown", count, of=of, billed=False)
    for place, of in (("onprem", 4), ("cloud", 8))
    for count in (1, 2, 4, 8)
    if count <= of
]
OF_AN_ENVIRONMENT = {
    "eks": (
        lambda: program(pools={"near": POOL}, notebooks=READY, team={"users": USERS}, files=FILES),
        [
            profile(f"{count} x H100, cloud, {price} USD/h", count, of=8)
            for count, price in ((1, "6.88"), (2, "13.76"), (4, "27.52"), (8, "55.04"))
        ],
        "gpufleet-notebooks",
        [],
    ),
    "aks": (
        lambda: azure_stack.program(notebooks=READY, team={"users": USERS}),
        [profile("1 x T4, cloud, 0.53 USD/h", 1, of=1)],
        "managed-csi",
        [],
    ),
    "own servers": (
        lambda: lab_environment.program(notebooks=READY | {"storage_class": "local-path"}, team={"users": USERS}),
        ON_OWN_SERVERS,
        "local-path",
        [ANY_GPU_NODE],
    ),
}
"""Environment -> its program, the profiles with GPUs, the class of the database's volume, what the hub tolerates."""


@pytest.mark.parametrize("environment", OF_AN_ENVIRONMENT)
def test_profiles_and_places_of_a_hub(environment):
    made, profiles, storage_class, tolerated = OF_AN_ENVIRONMENT[environment]
    [hub] = hubs(made()).values()
    values = hub.inputs["values"]
    assert values["singleuser"]["profileList"] == [NO_GPU, *profiles]
    assert values["singleuser"]["extraTolerations"] == tolerated
    assert values["hub"]["tolerations"] == tolerated
    assert values["hub"]["db"] == {"type": "sqlite-pvc", "pvc": {"storageClassName": storage_class}}
    assert values["proxy"]["service"] == {"type": "LoadBalancer"}
    assert values["proxy"]["https"] == {
        "enabled": True,
        "type": "secret",
        "hosts": ["hub.example.com"],
        "secret": {"name": "hub-tls"},
    }


def test_each_team_has_its_own():
    teams = {"vision": {"users": USERS, "pools": ["own"]}, "speech": {}}
    pools = {"near": POOL, "own": POOL}
    made = program(pools=pools, notebooks=READY, teams=teams, files=FILES)
    assert {name: hub.inputs["namespace"] for name, hub in hubs(made).items()} == {
        "dev-notebooks-vision-release": "vision",
        "dev-notebooks-speech-release": "speech",
    }
    hosts = {name: hub.inputs["values"]["proxy"]["https"]["hosts"] for name, hub in hubs(made).items()}
    assert hosts["dev-notebooks-vision-release"] == ["vision.hub.example.com"]
    told = made.one("kubernetes:core/v1:ConfigMap", "dev-notebooks-speech-jobs").inputs["data"]["jobs.json"]
    assert set(json.loads(told)["jobs"]["pools"]) == {"near"}


def test_hub_on_eks_has_a_volume_of_ebs_by_a_driver_that_is_there():
    made = program(pools={"near": POOL}, notebooks=READY, team={"users": USERS}, files=FILES)
    [hub] = hubs(made).values()
    assert hub.inputs["values"]["hub"]["db"] == {
        "type": "sqlite-pvc",
        "pvc": {"storageClassName": "gpufleet-notebooks"},
    }
    [made_class] = made.of("kubernetes:storage.k8s.io/v1:StorageClass")
    assert made_class.inputs["provisioner"] == "ebs.csi.aws.com"
    driver = made.one("aws:eks/addon:Addon", "dev-cluster-aws-ebs-csi-driver").inputs
    assert driver["podIdentityAssociations"][0]["serviceAccount"] == "ebs-csi-controller-sa"
    assert made_class.inputs["metadata"]["name"] == "gpufleet-notebooks"


@pytest.mark.parametrize("own", [{"database": "memory"}, {"storage_class": "fast"}, None])
def test_driver_is_there_for_the_class_that_is_made_here_only(own):
    made = program(pools={"near": POOL}, **({} if own is None else {"notebooks": READY | own}), files=FILES)
    assert "dev-cluster-aws-ebs-csi-driver" not in made.names("aws:eks/addon:Addon")
    assert made.of("kubernetes:storage.k8s.io/v1:StorageClass") == []


def test_cluster_that_is_somebody_elses_needs_a_named_class():
    given = {"existing_cluster": EXISTING, "team": {"users": USERS}, "files": FILES}
    assert program.refusal(**given, notebooks=READY) == [
        "dev-notebooks: storage_class=null: leaves the hub without a volume for its database; name one of "
        "`kubectl get storageclass`, or set database=memory [any-notebooks-database]"
    ]
    [hub] = hubs(program(**given, notebooks=READY | {"storage_class": "gp2"})).values()
    assert hub.inputs["values"]["hub"]["db"]["pvc"] == {"storageClassName": "gp2"}


def test_least_configuration_is_one_image():
    made = program(pools={"near": POOL}, notebooks={"images": NOTEBOOKS["images"]}, team={"users": USERS}, files=FILES)
    [hub] = hubs(made).values()
    assert hub.inputs["values"]["proxy"]["service"] == {"type": "ClusterIP"}
    way = "kubectl port-forward -n training service/proxy-public 8000:http"
    assert made.result["notebooks"] == {"training": {"address": "http://localhost:8000", "port_forward": way}}


def test_none_without_the_setting():
    assert hubs(program(pools={"near": POOL})) == {}


def test_faults_are_told_with_those_of_the_stack():
    wrong = {**NOTEBOOKS, "host": "hub", "oidc": {"client_id": "hub"}, "admins": ["ana"]}
    lines = program.refusal(pools={"near": POOL}, notebooks=wrong)
    assert [line for line in lines if line.startswith("dev-notebooks: ")] == [
        "dev-notebooks: host=hub: is not a DNS name; use a name such as notebooks.example.com [any-notebooks-host]",
        "dev-notebooks: oidc=[client_id]: lacks client_secret, authorize_url, token_url and userdata_url; take them "
        "from the provider, see <issuer>/.well-known/openid-configuration [any-notebooks-oidc]",
        "dev-notebooks: admins=ana: has no uid in users; give users the name with its uid and gid [any-notebooks-user]",
    ]


def test_what_the_environment_knows_cannot_be_set():
    keys = ("namespace", "users", "jobs", "volume_claim")
    lines = program.refusal(notebooks={**NOTEBOOKS, **dict.fromkeys(keys, "x")})
    assert [line.split("; ")[0] for line in lines] == [
        f"Pulumi.dev.yaml: gpufleet:notebooks.{key}: unknown key" for key in keys
    ]
