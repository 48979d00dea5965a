"""The provider with which objects reach a cluster."""

import pulumi

PROVIDER_VERSION = "4.24.0"
"""Version of the Pulumi provider `kubernetes`: server-side apply, awaiting of workloads, helm.v3.Release.

The one that rehearsals stand in for. Without a version the engine takes whichever plugin it finds.
"""


def cluster_provider(
    name: str, kubeconfig: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
) -> pulumi.ProviderResource:
    """The provider `name` for the cluster of a kubeconfig (YAML or JSON text, not a path); hand it to components.

    Objects whose cluster is gone are forgotten, so that a destroy ends after somebody else deleted the cluster.
    """
    inputs = {
        "kubeconfig": pulumi.Output.secret(kubeconfig),
        # Configuration of a provider is text.
        "deleteUnreachable": "true",
        "enableServerSideApply": "true",
    }
    version = pulumi.ResourceOptions(version=PROVIDER_VERSION)
    return pulumi.ProviderResource("kubernetes", name, inputs, pulumi.ResourceOptions.merge(version, opts))
