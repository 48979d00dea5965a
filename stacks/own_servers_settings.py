"""Own servers in the cluster of an AWS environment: the keys under `gpufleet:own_servers`."""

from gpufleet.aws.hybrid_nodes import HybridNodesArgs
from gpufleet.aws.join_script import DRIVER
from gpufleet.aws.remote_networks import RemoteNetworks
from gpufleet.kubernetes.cilium import CiliumArgs
from gpufleet.kubernetes.node_place import OwnNodesArgs
from settings import Section
from typed_dict import model_of

OwnPoolSettings = model_of(OwnNodesArgs, Section)
_FILLED = {
    "cluster_name", "cluster_security_group_id", "region", "remote_networks", "credentials", "vpc_cidr",
    "service_cidr", "tags",
}  # fmt: skip
NetworksSettings = model_of(RemoteNetworks, Section)


class CiliumSettings(model_of(CiliumArgs, Section, without={"pod_cidrs", "labels"})):
    pod_cidrs: list[str] | None = None
    """IPv4 ranges of pods on own servers. Default: networks.pods. Needed where those are not given, because nobody
    routes to them: pods then go out with their server's address. Not to be changed while servers have pods."""


class NodeadmSettings(Section):
    version: str
    """Release of nodeadm, AWS's program that makes a server a node, for instance v1.0.19: github.com/aws/eks-hybrid."""
    sha256: str
    """Checksum of its file, as AWS publishes it beside the file: curl -fsSL
    https://hybrid-assets.eks.amazonaws.com/releases/VERSION/bin/linux/amd64/nodeadm.sha256"""


class OwnServersSettings(model_of(HybridNodesArgs, Section, without=_FILLED)):
    networks: NetworksSettings
    """Where the servers and their pods are, as the line to the VPC and the site's own routers know them."""
    credentials: str = "ssm"
    """ssm: an activation of Systems Manager, for those without certificates of their own. roles-anywhere: each server
    has a certificate of your own authority. Another one replaces the servers' role: each joins anew. Default ssm."""
    nfs: str
    """The shared files of every job, on own servers and in the cloud: an NFS 4.1 server and the directory that it
    exports, for instance 10.80.0.5:/export/shared. No EFS is made: its driver does not run on own servers."""
    line: bool = False
    """Whether a line to the servers that is not gpufleet:link exists already, so that nodes of the cloud reach nfs.
    Where neither is there, jobs with the shared files run on own servers only. Default false."""
    pools: dict[str, OwnPoolSettings]
    """Own servers by name of their pool: those of one kind in one place. What a server is called here is what `gpufleet
    nodes script` takes."""
    nodeadm: NodeadmSettings
    """The program that the scripts install and check."""
    driver: str = DRIVER
    """Branch of NVIDIA's driver that is installed where none answers, as Ubuntu calls it. Default 580-server, the last
    one for V100."""
    cilium: CiliumSettings = CiliumSettings()
    """The network of pods on own servers."""
