"""A kubeconfig for an AKS cluster, made of what Azure says of it (decision 12)."""

import base64
import json

import pulumi
from pulumi_azure_native import containerservice

from gpufleet.azure.invoke import invoke_or_fail
from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.kubeconfig import parse_kubeconfig

AKS_SERVER = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""The application of Microsoft Entra ID for the API servers of all AKS clusters
(https://azure.github.io/kubelogin/concepts/aks.html)."""


def cluster_kubeconfig(
    cluster: "containerservice.ManagedCluster", resource_group_name: pulumi.Input[str], parent: pulumi.Resource
) -> pulumi.Output[str]:
    """The cluster's kubeconfig, a secret. Nothing is asked before the cluster is there: not in a first preview.

    You need the right listClusterUserCredential, which a Contributor has. Errors: as `asked`.
    """

    def ask(group: str, name: str) -> str:
        opts = pulumi.InvokeOptions(parent=parent)
        listed = containerservice.list_managed_cluster_user_credentials(
            resource_group_name=group, resource_name=name, opts=opts
        )
        return kubeconfig(listed.kubeconfigs[0].value)

    # No engine knows an id before the resource is made, unlike a name that the program gives.
    known = pulumi.Output.all(resource_group_name, cluster.name, cluster.id)
    return pulumi.Output.secret(
        known.apply(lambda of: invoke_or_fail(f"{of[1]}: the kubeconfig", lambda: ask(of[0], of[1])))
    )


def kubeconfig(listed: str) -> str:
    """A kubeconfig (JSON, which is YAML too) whose credentials are short-lived: ``kubelogin get-token`` makes them.

    listed: what Azure lists for a cluster's users, base64 of YAML. Address and certificate authority are taken from it;
    its user would ask a person to log in by browser. Ours takes the login of the Azure CLI, or what the variable
    AAD_LOGIN_METHOD says, for instance workloadidentity in CI.
    """
    where = "Azure's kubeconfig"
    clusters = parse_kubeconfig(base64.b64decode(listed), where).get("clusters") or []
    if not clusters or not {"server", "certificate-authority-data"} <= clusters[0]["cluster"].keys():
        raise UserError(f"{where}: has no cluster with server and certificate-authority-data; is the cluster ready?")
    name, cluster = clusters[0]["name"], clusters[0]["cluster"]
    fetch_token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "kubelogin",
        "args": ["get-token", "--login", "azurecli", "--server-id", AKS_SERVER],
        "interactiveMode": "Never",
    }
    address = {key: cluster[key] for key in ("server", "certificate-authority-data")}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": address}],
            "users": [{"name": name, "user": {"exec": fetch_token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
    )
