"""The kubeconfig of an AKS cluster: what is taken from Azure's list, and that logins are short-lived."""

import base64
import json

import pytest
import yaml

from gpufleet.azure.kubeconfig import kubeconfig
from gpufleet.errors import UserError

LISTED = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [
        {
            "name": "fleet",
            "cluster": {"certificate-authority-data": "Y2VydA==", "server": "https://fleet-1.hcp.eastus.azmk8s.io:443"},
        }
    ],
    "contexts": [{"name": "fleet", "context": {"cluster": "fleet", "user": "clusterUser_group_fleet"}}],
    "current-context": "fleet",
    "users": [
        {
            "name": "clusterUser_group_fleet",
            "user": {
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1beta1",
                    "command": "kubelogin",
                    "args": ["get-token", "--login", "devicecode", "--server-id", "x", "--client-id", "y"],
                }
            },
        }
    ],
}
"""As AKS lists it for a cluster with logins by Microsoft Entra ID
(https://azure.github.io/kubelogin/concepts/exec-plugin.html)."""


def encoded(document: object) -> str:
    return base64.b64encode(yaml.safe_dump(document).encode()).decode()


def test_address_and_authority_are_azures_and_the_login_is_the_command_lines() -> None:
    assert json.loads(kubeconfig(encoded(LISTED))) == {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": LISTED["clusters"],
        "users": [
            {
                "name": "fleet",
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": "kubelogin",
                        "args": [
                            "get-token",
                            "--login",
                            "azurecli",
                            "--server-id",
                            "6dae42f8-4368-4678-94ff-3960e28e3630",
                        ],
                        "interactiveMode": "Never",
                    }
                },
            }
        ],
        "contexts": [{"name": "fleet", "context": {"cluster": "fleet", "user": "fleet"}}],
        "current-context": "fleet",
    }


def test_certificates_of_local_accounts_do_not_get_out() -> None:
    users = [{"name": "clusterUser_group_fleet", "user": {"client-key-data": "a2V5", "token": "secret"}}]
    made = kubeconfig(encoded({**LISTED, "users": users}))
    assert "a2V5" not in made
    assert "secret" not in made


def test_a_list_without_authority_is_no_kubeconfig() -> None:
    cluster = {"name": "fleet", "cluster": {"server": "https://fleet"}}
    with pytest.raises(UserError, match="has no cluster with server and certificate-authority-data"):
        kubeconfig(encoded({**LISTED, "clusters": [cluster]}))
