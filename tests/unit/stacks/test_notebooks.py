"""A hub for each team of an environment, where `gpufleet:notebooks` asks for them."""

import json

from tests.unit.stacks.aws_environment import POOL, program

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
