"""Checks of how the pools and accounts of Azure Batch use storage accounts."""

from collections.abc import Mapping

from gpufleet.plan import UNKNOWN, Resource
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.property_values import blocks, get_path, items
from gpufleet.policies.azure.property_reader import PropertyReader
from gpufleet.rules.azure import batch_mounts as azure_mount
from gpufleet.rules.azure import storage as azure_storage

_KINDS = {
    "azureBlobFileSystemConfiguration": "blob",
    "azureFileShareConfiguration": "file share",
    "nfsMountConfiguration": "nfs",
    "cifsMountConfiguration": "cifs",
}
_CREDENTIALS = {"accountKey": "account_key", "sasKey": "sas_key", "identityReference": "identity_reference"}
_STORAGE = "storage:StorageAccount"


def validate_mounts(reading: PropertyReader, region: str | None) -> None:
    """Every rule on what a Batch pool in a region mounts, and on the identities that it does that with."""
    value = get_path(reading.props, "mountConfiguration")
    if value is UNKNOWN or UNKNOWN in items(value):
        reading.unknown.add("mount_configuration")
    mounts = [each for each in items(value) if isinstance(each, Mapping)]
    reading.add(azure_mount.mount_count(count=len(mounts)))
    shares: list[str] = []
    others = 0
    for number, mount in enumerate(mounts):
        argument = f"mount_configuration[{number}]"
        kinds = [kind for name, kind in _KINDS.items() if mount.get(name) is not None]
        reading.add(azure_mount.mount_one_kind(argument=argument, kinds=kinds))
        for name, kind in _KINDS.items():
            inner = mount.get(name)
            if inner is UNKNOWN:
                reading.unknown.add("mount_configuration")
            if isinstance(inner, Mapping):
                _validate_mount(reading, argument, kind, inner, region)
        path = get_path(mount, "azureFileShareConfiguration", "relativeMountPath")
        shares += [path if isinstance(path, str) else "?"] if "file share" in kinds else []
        others += bool(set(kinds) - {"file share"})
    reading.add(azure_mount.data_on_blob(shares=shares, others=others))
    _image_identities(reading)


def validate_auto_storage(reading: PropertyReader) -> None:
    """The rules on the storage account that belongs to a Batch account."""
    if not reading.has("autoStorage"):
        return
    graph, account = reading.graph, reading.resource
    found = graph.behind(account, "autoStorage", _STORAGE)
    storage = found[0] if len(found) == 1 else None
    mode = reading.text("autoStorage", "authenticationMode", default="StorageKeys")
    name = storage.name if storage else "(an account)"
    if mode == "StorageKeys":
        allowed = _keys_allowed(graph, storage)
        reading.add(azure_mount.shared_key(argument="auto_storage", needs="its keys", account=name, allowed=allowed))
    here = graph.location(account)
    there = graph.location(storage) if storage else None
    reading.add(azure_storage.storage_near_pool(argument="auto_storage", account=name, region=there, pool_region=here))


def _validate_mount(
    reading: PropertyReader, argument: str, kind: str, inner: Mapping[str, object], region: str | None
) -> None:
    credentials = [said for name, said in _CREDENTIALS.items() if inner.get(name) is not None]
    if not credentials and reading.graph.read_from_azure(reading.resource):
        reading.unknown.add("account_key")
        return
    if kind == "file share":
        reading.add(azure_mount.mount_files_key(argument=argument, has_key="account_key" in credentials))
    if kind == "blob":
        reading.add(azure_mount.mount_credential(argument=argument, given=credentials))
        if "identity_reference" in credentials:
            _identity(reading, argument, inner.get("identityReference"))
    if kind not in ("blob", "file share"):
        return
    storage = _storage_of(reading, inner)
    said = inner.get("accountName")
    name = said if isinstance(said, str) else storage.name if storage else "(an account)"
    keys = "its account key" if "account_key" in credentials else "a SAS" if "sas_key" in credentials else ""
    if keys:
        allowed = _keys_allowed(reading.graph, storage)
        reading.add(azure_mount.shared_key(argument=argument, needs=keys, account=name, allowed=allowed))
    there = reading.graph.location(storage) if storage else None
    reading.add(azure_storage.storage_near_pool(argument=argument, account=name, region=there, pool_region=region))


def _storage_of(reading: PropertyReader, inner: Mapping[str, object]) -> Resource | None:
    """The storage account of this plan that a mount names: by its plain name, or as the only one that it can be."""
    said = inner.get("accountName")
    graph = reading.graph
    if isinstance(said, str):
        same = [each for each in graph.of(_STORAGE) if graph.props(each).get("accountName") == said]
        return same[0] if len(same) == 1 else None
    behind = graph.behind(reading.resource, "mountConfiguration", _STORAGE)
    return behind[0] if said is UNKNOWN and len(behind) == 1 else None


def _keys_allowed(graph: AzureGraph, storage: Resource | None) -> bool | None:
    """Azure allows keys where nobody says otherwise."""
    if storage is None:
        return None
    said = get_path(graph.props(storage), "allowSharedKeyAccess")
    return None if said is UNKNOWN else said is not False


def _image_identities(reading: PropertyReader) -> None:
    path = ("deploymentConfiguration", "virtualMachineConfiguration", "containerConfiguration", "containerRegistries")
    for number, each in enumerate(blocks(get_path(reading.props, *path))):
        if each.get("identityReference") is not None:
            _identity(reading, f"container_registries[{number}]", each.get("identityReference"))


def _identity(reading: PropertyReader, argument: str, reference: object) -> None:
    """Whether the pool has the identity: the very one where both are plain, else any at all."""
    identity = get_path(reading.props, "identity")
    if identity is UNKNOWN:
        reading.unknown.add("identity")
        return
    own = get_path(identity, "userAssignedIdentities")
    if own is UNKNOWN:
        reading.unknown.add("user_assigned_identities")
        return
    ids = list(own) if isinstance(own, Mapping) else items(own)
    wanted = get_path(reference, "resourceId")
    plain = [each.lower() for each in ids if isinstance(each, str)]
    # An id that is not known yet may be the wanted one.
    has = bool(ids) if not isinstance(wanted, str) else wanted.lower() in plain or len(plain) < len(ids)
    reading.add(azure_mount.mount_identity(argument=argument, has_identity=has))
