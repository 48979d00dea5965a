"""Environment variables that configure MPI, NCCL and libfabric for the network of the ranks."""

from collections.abc import Mapping

INTERFACE = "eth0"
"""A pod's network interface, as every container runtime names it: prefix ``eth``, number 0.

Source: github.com/containerd/go-cni (DefaultPrefix) and cri-o's pod set-up, both ``eth0``.
"""

_EVERYWHERE: Mapping[str, str] = {
    # MPI itself only starts the ranks and passes small things; gradients go through NCCL. Its own pick among UCX, OFI
    # and TCP differs from image to image, and on EFA the OFI one takes endpoints that NCCL needs.
    "OMPI_MCA_btl": "tcp,self",
    "OMPI_MCA_pml": "ob1",
}


def network_environment(network: str, interface: str = INTERFACE) -> dict[str, str]:
    """Environment variables of every rank, by name; ``network`` is plain, efa or infiniband.

    Everywhere: NCCL, Gloo and both layers of OpenMPI that open sockets keep to the pod's ``interface``. Without it
    each picks one, and where a container sees several (hostNetwork, Multus) ranks end on networks that do not meet.
    Sources: docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html (NCCL_SOCKET_IFNAME: ``=`` for the exact
    name), docs.pytorch.org/docs/stable/distributed.html (GLOO_SOCKET_IFNAME),
    www.open-mpi.org/faq/?category=tcp#tcp-selection (btl_tcp_if_include, oob_tcp_if_include).

    plain: NCCL takes TCP, also in an image with a plugin, which would else be tried first (NVIDIA/nccl#676).
    efa: NCCL takes the plugin aws-ofi-nccl or fails: an image without it, or a pod without EFA devices, would else
    train over TCP ten times slower, as in aws-samples/aws-do-eks#54. FI_PROVIDER alone says nothing to NCCL, which
    opens libfabric through the plugin only; with it the plugin takes EFA devices and no others. "AWS Libfabric" is the
    plugin's name up to 1.11, and later ones answer to it too (aws/aws-ofi-nccl#530). RDMA and fork safety are on by
    default from libfabric 1.18 and EFA installer 1.30; they are for older images. Sources: NVIDIA/nccl,
    src/plugin/net.cc (ncclNetInit: the network of the name NCCL_NET, else "Failed to initialize any NET plugin"),
    docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html,
    github.com/ofiwg/libfabric/blob/main/man/fi_efa.7.md, docs.aws.amazon.com/eks/latest/userguide/node-efa.html.
    infiniband: NCCL takes InfiniBand's verbs and nothing else, so that here too a job without the devices fails instead
    of being slow; of a node's adapters those that Azure's HPC images name mlx5_ib, not the Ethernet one. NCCL and UCX
    may have writes reordered on PCIe, which a virtual machine of Azure needs for full speed. What chooses UCX by itself
    keeps to the first InfiniBand adapter, and HCOLL stays off, as NCCL does the collective work.
    Sources: docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html (NCCL_NET, NCCL_IB_HCA: a prefix,
    NCCL_IB_PCI_RELAXED_ORDERING), learn.microsoft.com/azure/virtual-machines/setup-mpi (UCX_NET_DEVICES).
    """
    environment = {
        **_EVERYWHERE,
        "GLOO_SOCKET_IFNAME": interface,
        "NCCL_SOCKET_IFNAME": f"={interface}",
        "OMPI_MCA_btl_tcp_if_include": interface,
        "OMPI_MCA_oob_tcp_if_include": interface,
    }
    if network == "efa":
        return environment | {
            "FI_EFA_FORK_SAFE": "1",
            "FI_EFA_USE_DEVICE_RDMA": "1",
            "FI_PROVIDER": "efa",
            "NCCL_NET": "AWS Libfabric",
        }
    if network == "infiniband":
        return environment | {
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "NCCL_IB_HCA": "mlx5_ib",
            "NCCL_IB_PCI_RELAXED_ORDERING": "1",
            "NCCL_NET": "IB",
            "OMPI_MCA_coll_hcoll_enable": "0",
            "UCX_IB_PCI_RELAXED_ORDERING": "on",
            "UCX_NET_DEVICES": "mlx5_ib0:1",
        }
    return environment | {"NCCL_NET": "Socket"}
