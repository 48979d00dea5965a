"""Cluster of Azure: exact children in both engine modes, what waits for what, and what is refused."""

import base64
import json
import uuid
from typing import cast

import pulumi
import pytest

from gpufleet.azure.cluster import REPLACING, Cluster, ClusterArgs
from gpufleet.azure.kubeconfig import kubeconfig
from gpufleet.azure.role_assignment import ROLES
from tests.components.azure_place import HERE, PLACE, SUBSCRIPTION, TAGS, known
from tests.components.recorder import UNKNOWN, Recording, Secret, construct, refusal

COMPONENT = "gpufleet-azure:index:Cluster"
CLUSTER = "azure-native:containerservice:ManagedCluster"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
RIGHTS = "azure-native:authorization:RoleAssignment"
CREDENTIALS = "azure-native:containerservice:listManagedClusterUserCredentials"
SUBNET = f"{SUBSCRIPTION}/resourceGroups/fleet-group/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"
OPS, ML = "11111111-2222-3333-4444-555555555555", "00000000-2222-3333-4444-555555555555"
NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
COMPUTED: dict[str, dict[str, object]] = {
    IDENTITY: {"principalId": "{name}-principal", "clientId": "{name}-client"},
    CLUSTER: {
        "nodeResourceGroup": "MC_fleet-group_{name}_eastus",
        "identityProfile": {"kubeletidentity": {"objectId": "{name}-kubelet", "clientId": "c", "resourceId": "r"}},
        "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://oidc.invalid/{name}"},
        # A list in the inputs, a map in what Azure answers.
        "identity": {"userAssignedIdentities": {"an-id": {"clientId": "c", "principalId": "p"}}},
    },
}
LISTED = base64.b64encode(
    json.dumps(
        {"clusters": [{"name": "aks", "cluster": {"server": "https://aks:443", "certificate-authority-data": "Y2E="}}]}
    ).encode()
).decode()
ANSWERS = {CREDENTIALS: {"kubeconfigs": [{"name": "clusterUser", "value": LISTED}]}}


def build(preview: bool, /, **changes: object) -> Recording[Cluster]:
    """A cluster called aks; None takes an argument away."""
    base = {**PLACE, "version": "1.36", "subnet_id": SUBNET, "admins": {"ops": OPS}}
    args = {key: value for key, value in {**base, **changes}.items() if value is not None}
    return construct(lambda: Cluster("aks", cast(ClusterArgs, args)), preview, COMPUTED, ANSWERS)


def system_pool(**changes: object) -> dict[str, object]:
    inputs: dict[str, object] = {
        "name": "system",
        "mode": "System",
        "type": "VirtualMachineScaleSets",
        "vmSize": "Standard_D4s_v5",
        "orchestratorVersion": "1.36",
        "vnetSubnetID": SUBNET,
        "enableAutoScaling": True,
        "minCount": 2,
        "count": 2,
        "maxCount": 3,
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskSizeGB": 128,
        "tags": TAGS,
        **changes,
    }
    return inputs


def expected(preview: bool, **changes: object) -> dict[str, object]:
    inputs: dict[str, object] = {
        **HERE,
        "resourceName": "aks-stack",
        "dnsPrefix": "aks-stack",
        "kubernetesVersion": "1.36",
        "sku": {"name": "Base", "tier": "Free"},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": [known(preview, "aks-identity-id")]},
        "agentPoolProfiles": [system_pool()],
        "apiServerAccessProfile": {
            "enablePrivateCluster": True,
            "privateDNSZone": "system",
            "enablePrivateClusterPublicFQDN": False,
        },
        "disableLocalAccounts": True,
        "enableRBAC": True,
        "aadProfile": {"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": [OPS]},
        "oidcIssuerProfile": {"enabled": True},
        "securityProfile": {"workloadIdentity": {"enabled": True}},
        "storageProfile": {
            "blobCSIDriver": {"enabled": True},
            "fileCSIDriver": {"enabled": True},
            "diskCSIDriver": {"enabled": True},
        },
        "networkProfile": {
            "networkPlugin": "azure",
            "networkPluginMode": "overlay",
            "networkDataplane": "cilium",
            "networkPolicy": "cilium",
            "podCidr": "10.244.0.0/16",
            "serviceCidr": "10.0.0.0/16",
            "dnsServiceIP": "10.0.0.10",
            "outboundType": "userAssignedNATGateway",
            "loadBalancerSku": "standard",
        },
        "autoScalerProfile": {"scaleDownUnneededTime": "10m"},
        "autoUpgradeProfile": {"upgradeChannel": "none", "nodeOSUpgradeChannel": "Unmanaged"},
    }
    return {**inputs, **changes}


def test_control_plane(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(CLUSTER) == {"aks-cluster": expected(preview)}
    assert {each.type for each in recording.resources} == {COMPONENT, CLUSTER, IDENTITY, RIGHTS}


def test_what_the_autoscaler_and_azure_own(preview: bool) -> None:
    cluster = build(preview).one(CLUSTER)
    assert cluster.ignore_changes == ("agentPoolProfiles[0].count",)
    assert cluster.delete_before_replace is True
    assert cluster.replace_on_changes == REPLACING
    pool = system_pool(availabilityZones=["1"])
    properties = {f"agentPoolProfiles[0].{key}" for key in pool}
    assert set(REPLACING) <= {*properties, "apiServerAccessProfile.enablePrivateCluster"}


def test_the_identity_has_its_rights_before_the_cluster_needs_them(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(IDENTITY) == {"aks-identity": HERE}
    principal = "aks-identity-principal"
    name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{SUBNET}|Network Contributor|{principal}"))
    assert recording.inputs(RIGHTS) == {
        "aks-subnet": {
            "scope": SUBNET,
            "roleAssignmentName": known(preview, name),
            "roleDefinitionId": f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/"
            + NETWORK_CONTRIBUTOR,
            "principalId": known(preview, principal),
            "principalType": "ServicePrincipal",
        }
    }
    assert recording.one(CLUSTER).depends_on == {"aks-subnet"}


def test_an_existing_identity_comes_with_its_rights(preview: bool) -> None:
    recording = build(preview, identity_id="theirs")
    assert recording.names(IDENTITY) == recording.names(RIGHTS) == []
    assert recording.inputs(CLUSTER)["aks-cluster"]["identity"] == {
        "type": "UserAssigned",
        "userAssignedIdentities": ["theirs"],
    }


def test_nodes_pull_from_the_registry_as_who_they_are(preview: bool) -> None:
    registry = f"{SUBSCRIPTION}/resourceGroups/fleet-group/providers/Microsoft.ContainerRegistry/registries/images"
    rights = build(preview, registry_id=registry).one(RIGHTS, "aks-pulls")
    assert rights.inputs["scope"] == registry
    assert str(rights.inputs["roleDefinitionId"]).endswith(ROLES["AcrPull"])
    assert rights.inputs["principalId"] == known(preview, "aks-cluster-kubelet")
    assert rights.parent == "aks"


def test_outputs(preview: bool) -> None:
    outputs = build(preview).outputs["aks"]
    assert outputs == {
        "cluster_name": known(preview, "aks-cluster"),
        "cluster_id": known(preview, "aks-cluster-id"),
        "kubeconfig": UNKNOWN if preview else Secret(kubeconfig(LISTED)),
        "oidc_issuer_url": known(preview, "https://oidc.invalid/aks-cluster"),
        "kubelet_principal_id": known(preview, "aks-cluster-kubelet"),
        "node_resource_group": known(preview, "MC_fleet-group_aks-cluster_eastus"),
    }


def test_a_first_preview_asks_azure_nothing() -> None:
    """Where it asks, the mocks without answers fail, as in the update."""
    args = cast(ClusterArgs, {**PLACE, "version": "1.36", "subnet_id": SUBNET, "admins": {"ops": OPS}})
    construct(lambda: Cluster("aks", args), True, COMPUTED)
    with pytest.raises(pulumi.RunError, match=f"^[^\n]*: the kubeconfig cannot be read: [^\n]*{CREDENTIALS}[^\n]*$"):
        construct(lambda: Cluster("aks", args), False, COMPUTED)


def test_a_public_endpoint_only_for_ranges(preview: bool) -> None:
    inputs = build(preview, authorized_ranges=["203.0.113.0/24"]).one(CLUSTER).inputs
    assert inputs["apiServerAccessProfile"] == {
        "enablePrivateCluster": False,
        "authorizedIPRanges": ["203.0.113.0/24"],
    }


def test_nodes_register_through_the_addresses_of_their_network(preview: bool) -> None:
    ways_out = ["198.51.100.7", pulumi.Output.from_input("198.51.100.8")]
    public = build(preview, authorized_ranges=["203.0.113.0/24"], outbound_addresses=ways_out).one(CLUSTER).inputs
    assert public["apiServerAccessProfile"] == {
        "enablePrivateCluster": False,
        "authorizedIPRanges": ["203.0.113.0/24", "198.51.100.7/32", "198.51.100.8/32"],
    }
    assert build(preview, outbound_addresses=ways_out).inputs(CLUSTER) == {"aks-cluster": expected(preview)}


def test_the_order_of_admins_is_no_change(preview: bool) -> None:
    given = [build(preview, admins=admins).one(CLUSTER).inputs for admins in ({"a": OPS, "b": ML}, {"b": ML, "a": OPS})]
    assert given[0] == given[1]
    assert cast("dict[str, object]", given[0]["aadProfile"])["adminGroupObjectIDs"] == [ML, OPS]


def test_the_owner_chooses(preview: bool) -> None:
    inputs = build(
        preview,
        cluster_name="fleet_a",
        tier="Standard",
        zones=["1", "2"],
        system_type="Standard_D8s_v5",
        system_min=4.0,
        outbound="load-balancer",
        pod_cidr="100.64.0.0/16",
        service_cidr="100.65.0.0/16",
        upgrade_channel="patch",
        idle_minutes=5.0,
    ).inputs(CLUSTER)["aks-cluster"]
    plain = expected(preview)
    network = {
        "podCidr": "100.64.0.0/16",
        "serviceCidr": "100.65.0.0/16",
        "dnsServiceIP": "100.65.0.10",
        "outboundType": "loadBalancer",
    }
    pool = system_pool(vmSize="Standard_D8s_v5", minCount=4, count=4, maxCount=4, availabilityZones=["1", "2"])
    assert inputs == {
        **plain,
        "resourceName": "fleet_a",
        "dnsPrefix": "fleet-a",
        "sku": {"name": "Base", "tier": "Standard"},
        "agentPoolProfiles": [pool],
        "networkProfile": {**cast("dict[str, object]", plain["networkProfile"]), **network},
        "autoScalerProfile": {"scaleDownUnneededTime": "5m"},
        "autoUpgradeProfile": {"upgradeChannel": "patch", "nodeOSUpgradeChannel": "Unmanaged"},
    }


CASES: dict[str, tuple[dict[str, object], list[str]]] = {
    "open to everybody, administered by nobody, with an old version": (
        {"private": False, "admins": {}, "version": "1.33"},
        [
            "private=false: opens the API server to everybody, as AKS does without ranges; list the ranges that you "
            "work from, such as 203.0.113.0/24, or set private=true [azure-cluster-reached]",
            "admins={}: nobody would administer the cluster; name a group of Microsoft Entra ID: az ad group show "
            "--group <name> --query id [azure-cluster-administered]",
            "version=1.33: AKS makes no cluster with it any more; use 1.34, 1.35 or 1.36 "
            "[azure-cluster-version-offered]",
        ],
    ),
    "missing and misspelt": (
        {"version": None, "admin": "me"},
        [
            "admin=me: unknown argument; did you mean admins? [any-argument-known]",
            "version=null: is required; give a string [any-argument-given]",
        ],
    ),
    "words of AWS": (
        {"public_access_cidrs": ["203.0.113.0/24"], "region": "us-east-1"},
        [
            "public_access_cidrs=[203.0.113.0/24]: unknown argument; remove it, or use admins, "
            "authorized_ranges, cluster_name, identity_id, idle_minutes, outbound, outbound_addresses, pod_cidr, "
            "private, region, registry_id, resource_group_name, service_cidr, subnet_id, system_max, system_min, "
            "system_type, tags, tier, upgrade_channel, version or zones [any-argument-known]",
            "region=us-east-1: is not an Azure region; use a name such as eastus [azure-region-form]",
        ],
    ),
    "system nodes out of order, of AWS, in no zone": (
        {"system_min": 0, "system_type": "m7i.large", "zones": ["use1-az1"]},
        [
            "system_type=m7i.large: is not a VM size name; use one such as Standard_D4s_v5 [azure-system-pool-size]",
            "system_min=0: leaves no node for DNS and the drivers; use at least 1, better 2 [azure-system-pool-count]",
            'zones=use1-az1: is not an Azure zone; use "1", "2" or "3" [azure-zone-number]',
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = CASES[case]
    assert refusal(lambda: build_refused(changes), preview) == [f"aks: {line}" for line in lines]


def build_refused(changes: dict[str, object]) -> Cluster:
    base = {**PLACE, "version": "1.36", "subnet_id": SUBNET, "admins": {"ops": OPS}}
    return Cluster("aks", cast(ClusterArgs, {**base, **changes}))
