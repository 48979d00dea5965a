"""The script by which a server of the configuration joins: from what the stack's outputs tell. Pure."""

from gpufleet.aws.join_script import join_script
from gpufleet.onprem.servers import OnpremServers, Server


def script_of(own: OnpremServers, server: Server) -> str:
    """The script, which holds credentials."""
    return join_script(
        cluster_name=own.cluster_name,
        region=own.region,
        kubernetes_version=own.kubernetes_version,
        credentials=own.credentials,
        node_name=server.name,
        labels=server.labels,
        taints=server.taints,
        nodeadm_version=own.nodeadm_version,
        nodeadm_sha256=own.nodeadm_sha256,
        nfs=own.nfs,
        driver=own.driver,
    )
