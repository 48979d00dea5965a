"""Cases of gpufleet.rules.azure.private_endpoint."""

from gpufleet.rules.azure.private_endpoint import endpoint_group, endpoint_of_premium, endpoint_place

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
    endpoint_group: [
        ("blob", {"kind": "storage:StorageAccount", "groups": ["blob"]}, "pass", ""),
        ("secondary", {"kind": "storage:StorageAccount", "groups": ["web_secondary"]}, "pass", ""),
        ("registry", {"kind": "containerregistry:Registry", "groups": ["registry"]}, "pass", ""),
        ("batch", {"kind": "batch:BatchAccount", "groups": ["nodeManagement"]}, "pass", ""),
        ("another-service", {"kind": "search:Service", "groups": ["anything"]}, "pass", ""),
        (
            "blobs",
            {"kind": "storage:StorageAccount", "groups": ["blobs"]},
            "fail",
            (
                "trainers: group_ids=[blobs]: does not belong to that service; use blob, dfs, file, queue, table or "
                "web [azure-private-endpoint-group]"
            ),
        ),
        (
            "two",
            {"kind": "storage:StorageAccount", "groups": ["blob", "file"]},
            "fail",
            (
                "trainers: group_ids=[blob, file]: is more than one part of a service; make an endpoint for each "
                "[azure-private-endpoint-group]"
            ),
        ),
    ],
    endpoint_of_premium: [
        ("premium", {"sku": "Premium"}, "pass", ""),
        (
            "basic",
            {"sku": "Basic"},
            "fail",
            (
                "trainers: private_link_service_id=(a registry): a registry of the tier Basic has no private "
                "endpoints; give the registry sku.name=Premium [azure-private-endpoint-registry]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
