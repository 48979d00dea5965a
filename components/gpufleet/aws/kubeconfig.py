"""A kubeconfig for an EKS cluster."""

import json


def kubeconfig(cluster_name: str, endpoint: str, certificate_authority: str, region: str) -> str:
    """A kubeconfig (JSON, which is YAML too) whose credentials are short-lived: ``aws eks get-token`` makes them.

    ``certificate_authority`` is the cluster's certificate, base64.
    """
    fetch_token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["eks", "get-token", "--cluster-name", cluster_name, "--region", region, "--output", "json"],
        "interactiveMode": "Never",
    }
    cluster = {"server": endpoint, "certificate-authority-data": certificate_authority}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": cluster_name, "cluster": cluster}],
            "users": [{"name": cluster_name, "user": {"exec": fetch_token}}],
            "contexts": [{"name": cluster_name, "context": {"cluster": cluster_name, "user": cluster_name}}],
            "current-context": cluster_name,
        }
    )
