"""The provider with which objects reach a cluster."""

import pulumi
from pulumi_kubernetes import Provider


def cluster_provider(name: str, kubeconfig: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None) -> Provider:
    """The provider `name` for the cluster of a kubeconfig (YAML or JSON text, not a path); hand it to components.

    Objects whose cluster is gone are forgotten, so that a destroy ends after somebody else deleted the cluster.
    """
    return Provider(
        name,
        kubeconfig=pulumi.Output.secret(kubeconfig),
        delete_unreachable=True,
        enable_server_side_apply=True,
        opts=opts,
    )
