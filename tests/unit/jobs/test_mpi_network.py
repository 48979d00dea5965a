"""What MPI and NCCL are told of a network."""

from gpufleet.jobs.mpi_network import network_environment

PLAIN = {
    "GLOO_SOCKET_IFNAME": "eth0",
    "NCCL_NET": "Socket",
    "NCCL_SOCKET_IFNAME": "=eth0",
    "OMPI_MCA_btl": "tcp,self",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_pml": "ob1",
}


def test_environment_of_a_plain_network():
    assert network_environment("plain") == PLAIN


def test_environment_of_efa():
    efa = {
        "FI_PROVIDER": "efa",
        "FI_EFA_FORK_SAFE": "1",
        "FI_EFA_USE_DEVICE_RDMA": "1",
        "NCCL_NET": "AWS Libfabric",
    }
    assert network_environment("efa") == PLAIN | efa
