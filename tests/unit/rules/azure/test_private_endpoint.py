"""Cases of gpufleet.rules.azure.private_endpoint."""

from gpufleet.rules.azure.private_endpoint import endpoint_place

CASES = {
    endpoint_place: [
        ("given", {"argument": "endpoint_subnet_id", "given": True}, "pass", ""),
        (
            "no-subnet",
            {"argument": "endpoint_subnet_id", "given": False},
            "fail",
            (
                "trainers: endpoint_subnet_id=null: a private endpoint needs a subnet; give the id of the subnet "
                "[azure-private-endpoint-place]"
            ),
        ),
        (
            "no-network",
            {"argument": "vnet_id", "given": False},
            "fail",
            (
                "trainers: vnet_id=null: a private endpoint needs a virtual network; give the id of the virtual "
                "network [azure-private-endpoint-place]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
