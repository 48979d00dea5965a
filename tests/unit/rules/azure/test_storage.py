"""Cases of gpufleet.rules.azure.storage."""

from gpufleet.rules.azure.storage import (
    files_nfs_kind,
    kind_and_sku,
    nfs_kind,
    nfs_namespace,
    nfs_network,
    storage_near_pool,
)

CASES = {
    nfs_namespace: [
        ("off", {"nfs": False, "hierarchical": False}, "pass", ""),
        ("with", {"nfs": True, "hierarchical": True}, "pass", ""),
        (
            "without",
            {"nfs": True, "hierarchical": False},
            "fail",
            (
                "trainers: is_hns_enabled=false: NFS 3.0 needs a hierarchical namespace; set is_hns_enabled=true "
                "[azure-storage-nfs-namespace]"
            ),
        ),
        (
            "without-in-a-component",
            {"nfs": True, "hierarchical": False, "argument": "hierarchical"},
            "fail",
            (
                "trainers: hierarchical=false: NFS 3.0 needs a hierarchical namespace; set hierarchical=true "
                "[azure-storage-nfs-namespace]"
            ),
        ),
    ],
    nfs_kind: [
        ("off", {"nfs": False, "kind": "Storage"}, "pass", ""),
        ("v2", {"nfs": True, "kind": "StorageV2"}, "pass", ""),
        ("block", {"nfs": True, "kind": "BlockBlobStorage"}, "pass", ""),
        (
            "files",
            {"nfs": True, "kind": "FileStorage"},
            "fail",
            (
                "trainers: kind=FileStorage: has no NFS 3.0; use StorageV2, or BlockBlobStorage for premium "
                "[azure-storage-nfs-kind]"
            ),
        ),
    ],
    nfs_network: [
        ("off", {"nfs": False, "default_action": "Allow"}, "pass", ""),
        ("deny", {"nfs": True, "default_action": "Deny"}, "pass", ""),
        (
            "allow",
            {"nfs": True, "default_action": "Allow"},
            "fail",
            (
                "trainers: network_rule_set.default_action=Allow: NFS 3.0 has no credentials, and the account "
                "would be open to everybody; use Deny and allow the nodes' subnet [azure-storage-nfs-network]"
            ),
        ),
    ],
    files_nfs_kind: [
        ("smb", {"protocol": "SMB", "kind": "StorageV2"}, "pass", ""),
        ("premium", {"protocol": "NFS", "kind": "FileStorage"}, "pass", ""),
        (
            "standard",
            {"protocol": "NFS", "kind": "StorageV2"},
            "fail",
            (
                "trainers: enabled_protocols=NFS: is not available in a storage account of kind StorageV2; use a "
                "storage account of kind=FileStorage, or SMB [azure-files-nfs-kind]"
            ),
        ),
        (
            "unknown",
            {"protocol": "NFS", "kind": None},
            "unverified",
            (
                "trainers: enabled_protocols=NFS: not verified: the kind of its storage account is not known; use "
                "a storage account of kind=FileStorage, or SMB [azure-files-nfs-kind]"
            ),
        ),
        ("smb-unknown", {"protocol": "SMB", "kind": None}, "pass", ""),
    ],
    storage_near_pool: [
        (
            "same",
            {"argument": "mount_configuration[0]", "account": "store01", "region": "westus2", "pool_region": "westus2"},
            "pass",
            "",
        ),
        (
            "other",
            {"argument": "mount_configuration[0]", "account": "store01", "region": "eastus", "pool_region": "westus2"},
            "fail",
            (
                "trainers: mount_configuration[0]=store01: this storage account lies in eastus, the pool in "
                "westus2; use a storage account in westus2 [azure-storage-near-pool]"
            ),
        ),
        (
            "account-unknown",
            {"argument": "auto_storage", "account": "store01", "region": None, "pool_region": "westus2"},
            "unverified",
            (
                "trainers: auto_storage=store01: not verified: whether it lies in the pool's region is not known "
                "before deployment; make sure that both are in one region [azure-storage-near-pool]"
            ),
        ),
        (
            "pool-unknown",
            {"argument": "auto_storage", "account": "store01", "region": "eastus", "pool_region": None},
            "unverified",
            (
                "trainers: auto_storage=store01: not verified: whether it lies in the pool's region is not known "
                "before deployment; make sure that both are in one region [azure-storage-near-pool]"
            ),
        ),
    ],
    kind_and_sku: [
        ("general", {"kind": "StorageV2", "sku": "Standard_GZRS"}, "pass", ""),
        ("general-premium", {"kind": "StorageV2", "sku": "Premium_LRS"}, "pass", ""),
        ("files", {"kind": "FileStorage", "sku": "Premium_ZRS"}, "pass", ""),
        ("files-provisioned", {"kind": "FileStorage", "sku": "StandardV2_LRS"}, "pass", ""),
        (
            "files-standard",
            {"kind": "FileStorage", "sku": "Standard_LRS"},
            "fail",
            (
                "trainers: sku=Standard_LRS: is not available for the kind FileStorage; use Premium_LRS, or "
                "kind=StorageV2 [azure-storage-kind]"
            ),
        ),
        (
            "general-premium-zones",
            {"kind": "StorageV2", "sku": "Premium_ZRS"},
            "fail",
            (
                "trainers: sku=Premium_ZRS: is not available for the kind StorageV2; use Premium_LRS, or "
                "kind=BlockBlobStorage or FileStorage [azure-storage-kind]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
