"""The program of an Azure environment: what it registers from its configuration, and what it refuses before that."""

import pytest

from tests.unit.stacks.azure_stack import BATCH_POOL, CLUSTER, POOL, program

ACCOUNT = "azure-native:storage:StorageAccount"
POOL_OF_BATCH = "azure-native:batch:Pool"
RIGHTS = "azure-native:authorization:RoleAssignment"
BUDGET = {"usd_per_month": 100, "emails": ["ml@example.com"]}


def types(made):
    return {each.type for each in made.resources}


def test_one_resource_group_holds_all_of_it_but_the_budget():
    made = program(budget=BUDGET)
    groups = {
        each.inputs.get("resourceGroupName")
        for each in made.resources
        if each.type.startswith("azure-native:") and each.type not in (RIGHTS, "azure-native:consumption:Budget")
    }
    assert groups == {"dev-group", None}
    assert [each.type for each in made.resources if each.inputs.get("location") not in (None, "eastus")] == []


def test_nodes_reach_storage_and_registry_by_identity():
    made = program()
    assert {(each.name, each.inputs["principalId"]) for each in made.of(RIGHTS)} == {
        ("dev-files-result-of-nodes", "dev-nodes-identity-principal"),
        ("dev-files-scripts-of-nodes", "dev-nodes-identity-principal"),
        ("dev-registry-pull-of-nodes", "dev-nodes-identity-principal"),
        ("dev-cluster-pulls", "dev-cluster-cluster-kubelet"),
        ("dev-cluster-subnet", "dev-cluster-identity-principal"),
    }
    rules = {each.name: each.inputs["networkRuleSet"]["virtualNetworkRules"] for each in made.of(ACCOUNT)}
    assert [rule["virtualNetworkResourceId"] for rule in rules["devfiles"]] == [
        "dev-network-nodes-id",
        "dev-network-batch-id",
    ]
    assert [rule["virtualNetworkResourceId"] for rule in rules["devshare"]] == ["dev-network-nodes-id"]


def test_batch_pool_mounts_containers_by_identity_and_shares_by_key():
    plain = program().one(POOL_OF_BATCH).inputs["mountConfiguration"]
    assert [mount["azureBlobFileSystemConfiguration"]["containerName"] for mount in plain] == ["scripts", "result"]
    pool = BATCH_POOL | {"mounts": ["result", "logs"]}
    made = program(batch={"pools": {"spot": pool}}, files={"shares": ["logs"], "shared_keys": True})
    blob, share = made.one(POOL_OF_BATCH).inputs["mountConfiguration"]
    assert blob["azureBlobFileSystemConfiguration"]["accountName"] == "devfiles"
    assert share["azureFileShareConfiguration"]["azureFileUrl"] == "https://devfiles.file.invalid/logs"
    assert share["azureFileShareConfiguration"]["accountKey"].value == "a-key"


def test_what_jobs_are_told():
    made = program()
    outputs = made.result
    assert outputs["jobs"]["on"] == "kubernetes"
    assert sorted(outputs["jobs"]["pools"]) == ["trainers"]
    told = outputs["jobs"]["azure_batch"]
    assert {key: told[key] for key in ("region", "scripts", "result")} == {
        "region": "eastus",
        "scripts": "scripts",
        "result": "result",
    }
    assert told["storage"]["containers"] == ["scripts", "result"]
    spot = {key: value for key, value in told["pools"]["spot"].items() if key != "pool_id"}
    assert spot == {
        "types": ["Standard_NC4as_T4_v3"],
        "max": 10,
        "capacity": "spot",
        "task_nodes": 2,
        "mounts": ["scripts", "result"],
    }
    assert outputs["first_batch_job"] == (
        "gpufleet jobs submit dev --on azure-batch --nodes 2 --follow -- python3 train.py --synthetic"
    )


def test_batch_without_a_cluster():
    made = program(cluster=None, pools=None)
    assert not any(each.type.startswith(("kubernetes:", "azure-native:containerservice:")) for each in made.resources)
    assert made.result["jobs"]["on"] == "azure-batch"
    assert "kubeconfig" not in made.result
    assert "first_batch_job" not in made.result
    assert made.result["first_job"].endswith(
        "gpufleet jobs submit dev --nodes 2 --follow -- python3 train.py --synthetic"
    )


def test_cluster_without_batch():
    made = program(batch=None)
    assert not any(each.type.startswith("azure-native:batch:") for each in made.resources)
    assert "azure_batch" not in made.result["jobs"]


def test_spot_nodes_of_the_cluster_are_tolerated():
    made = program(pools={"trainers": POOL | {"capacity": "spot"}})
    taint = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NO_SCHEDULE"}
    assert made.result["jobs"]["pools"]["trainers"]["taints"] == [taint]
    found = made.inputs("kubernetes:apps/v1:DaemonSet")
    assert sorted(found) == ["dev-dcgm-exporter-daemonset", "dev-device-plugin-daemonset"]
    for each in found.values():
        pod = each["spec"]["template"]["spec"]
        assert taint["key"] in {toleration["key"] for toleration in pod["tolerations"]}


def test_budget_watches_by_tag_where_nodes_lie_in_the_clusters_own_group():
    scopes = {}
    for cluster, pools in ((CLUSTER, {"trainers": POOL}), (None, None)):
        made = program(budget=BUDGET, cluster=cluster, pools=pools)
        budget = made.one("azure-native:consumption:Budget").inputs
        scopes[cluster is not None] = (budget["scope"], "filter" in budget)
    assert scopes == {True: ("/subscriptions/s-1", True), False: ("/subscriptions/s-1/resourceGroups/dev-group", False)}


def test_existing_group_stays_whoever_made_it():
    made = program(resource_group="theirs", subscription_id="00000000-0000-0000-0000-000000000000")
    assert "azure-native:resources:ResourceGroup" not in types(made)
    assert made.one(POOL_OF_BATCH).inputs["resourceGroupName"] == "theirs"


REFUSED = {
    "nothing that runs jobs": (
        {"cluster": None, "pools": None, "batch": None},
        "dev: cluster=null: nothing would run jobs; give gpufleet:cluster, gpufleet:batch, or both "
        "[azure-stack-runs-something]",
    ),
    "agent pools without a cluster": (
        {"cluster": None},
        "dev: pools=[trainers]: are agent pools of a cluster, and there is none; give gpufleet:cluster, or put them "
        "under gpufleet:batch.pools [azure-stack-pools-on-cluster]",
    ),
    "a mount of nothing": (
        {"batch": {"pools": {"spot": BATCH_POOL | {"mounts": ["results"]}}}},
        "dev-spot: mounts=results: is neither a container nor a share of the environment's files; did you mean "
        "result? (use "
        "result or scripts) [azure-stack-mount-known]",
    ),
    "a mount twice": (
        {"batch": {"pools": {"spot": BATCH_POOL | {"mounts": ["scripts", "scripts"]}}}},
        "dev-spot: mounts=[scripts, scripts]: names scripts twice; name it once [any-argument-distinct]",
    ),
    "no container for outputs": (
        {"files": {"containers": ["scripts"]}},
        "dev-files: containers=[scripts]: has no result, where jobs on Azure Batch keep their outputs and logs; add "
        "result to gpufleet:files.containers [azure-stack-job-container]",
    ),
    "a subscription without a group": (
        {"subscription_id": "00000000-0000-0000-0000-000000000000"},
        "dev: subscription_id=00000000-0000-0000-0000-000000000000: is for an existing resource group, and none is "
        "given; give gpufleet:resource_group, or choose the provider's subscription by azure-native:subscriptionId "
        "[azure-stack-subscription]",
    ),
    "a network too small for Batch": (
        {"network": {"cidr": "10.60.0.0/24"}, "batch": {"pools": {"spot": BATCH_POOL | {"max": 60}}}},
        "dev-network: cidr=10.60.0.0/24: Azure Batch may have 60 nodes, and its part 10.60.0.64/26 has 59 addresses; "
        "use a range of /23 or larger, or lower max [azure-stack-addresses]",
    ),
    "a network too small for the cluster": (
        {"network": {"cidr": "10.60.0.0/24"}, "pools": {"trainers": POOL | {"max": 57}}},
        "dev-network: cidr=10.60.0.0/24: the cluster may have 60 nodes, and its part 10.60.0.0/26 has 59 addresses; "
        "use a range of /23 or larger, or lower max [azure-stack-addresses]",
    ),
    "more cores than a new Batch account has": (
        {"quotas": [{"family": "all", "market": "spot", "limit": 25, "in_use": 0, "account": "devbatch"}]},
        "dev: pools={dev-spot: 10 x 4}: 40 low-priority cores of all families of Batch account devbatch at the peak "
        "are above the limit of 25; ask for 40 or more, which takes days: Azure portal, Batch account devbatch, "
        "Quotas, Request quota increase (a support request on Batch; the subscription's own quota does not count); "
        "until then dev-spot.max=6 fits [any-quota-enough]",
    ),
    "a network on the cluster's services": (
        {"network": {"cidr": "10.0.0.0/16"}},
        "dev-network: cidr=10.0.0.0/16: overlaps gpufleet:cluster.service_cidr=10.0.0.0/16; use one such as "
        "10.60.0.0/16, or give the cluster another service_cidr [azure-stack-ranges-apart]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_before_anything_is_made(case):
    changes, line = REFUSED[case]
    assert line in program.refusal(**changes)


def test_the_pool_of_2018_is_refused_with_its_successor():
    """az batchai cluster create -s Standard_NC6 -t 2 --vm-priority lowpriority, and a share that takes no key."""
    pool = {"types": ["Standard_NC6"], "max": 2, "capacity": "spot", "mounts": ["logs"]}
    lines = program.refusal(batch={"pools": {"gpus": pool}}, files={"shares": ["logs"]})
    assert any("types=Standard_NC6: " in line and "Standard_NC4as_T4_v3" in line for line in lines)
    assert (
        "dev-gpus: mounts[0]=(an account): needs its account key, and the storage account has "
        "allow_shared_key_access=false; use an identity and blob containers, or set shared_keys=true of the files "
        "[azure-storage-shared-key]"
    ) in lines


def test_a_region_of_no_form_is_said_once():
    region = {"azure-native:location": "East US"}
    assert program.refusal(region) == [
        "dev: region=East US: is not an Azure region; did you mean eastus? [azure-region-form]"
    ]


def test_network_without_a_cluster_may_have_its_ranges():
    made = program(cluster=None, pools=None, network={"cidr": "10.0.0.0/16"})
    vnet = made.one("azure-native:network:VirtualNetwork").inputs
    assert vnet["addressSpace"] == {"addressPrefixes": ["10.0.0.0/16"]}


def test_accesses_to_all_files_are_recorded_in_one_workspace_where_asked():
    record = "azure-native:monitor:DiagnosticSetting"
    assert program().inputs(record) == {}
    made = program(access_logs=True).inputs(record)
    assert sorted(made) == ["dev-files-access-blob", "dev-files-access-file", "dev-share-access"]
    assert {inputs["workspaceId"] for inputs in made.values()} == {"dev-files-access-id"}
