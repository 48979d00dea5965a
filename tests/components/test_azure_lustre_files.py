"""LustreFiles on Azure: exact inputs, what is kept on destroy, and what is refused."""

from typing import cast

from gpufleet.azure.lustre_files import LustreFiles, LustreFilesArgs
from tests.components.azure_place import HERE, PLACE, known
from tests.components.recorder import Recording, construct, refusal

FILES = "azure-native:storagecache:AmlFilesystem"


def build(preview: bool, /, **changes: object) -> Recording[LustreFiles]:
    args = cast(LustreFilesArgs, {**PLACE, "filesystem_subnet_id": "subnet-files", **changes})
    return construct(lambda: LustreFiles("fast", args), preview)


def test_defaults(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(FILES) == {
        "fast-lustre": {
            **HERE,
            "sku": {"name": "AMLFS-Durable-Premium-125"},
            "storageCapacityTiB": 16,
            "filesystemSubnet": "subnet-files",
            "zones": ["1"],
            "maintenanceWindow": {"dayOfWeek": "Sunday", "timeOfDayUTC": "04:00"},
        }
    }
    assert recording.one(FILES).protect is True
    assert recording.outputs["fast"]["mount_address"] == known(preview, "10.60.128.4@tcp:/lustrefs")


def test_everything_given(preview: bool) -> None:
    given = {"sku": "AMLFS-Durable-Premium-500", "tib": 8, "zone": "3", "maintenance_day": "Monday", "erase": True}
    recording = build(preview, **given, maintenance_time="23:30", node_zones=["3"])
    inputs = recording.one(FILES).inputs
    assert (inputs["sku"], inputs["storageCapacityTiB"], inputs["zones"]) == ({"name": given["sku"]}, 8, ["3"])
    assert inputs["maintenanceWindow"] == {"dayOfWeek": "Monday", "timeOfDayUTC": "23:30"}
    assert recording.one(FILES).protect is False


def test_refuses_every_fault_at_once(preview: bool) -> None:
    changes = {"tib": 24, "zone": "4", "maintenance_time": "4"}
    args = cast(LustreFilesArgs, {**PLACE, "filesystem_subnet_id": "subnet-files", **changes})
    lines = refusal(lambda: LustreFiles("fast", args), preview)
    assert [line.rpartition("[")[2].rstrip("]") for line in lines] == [
        "azure-lustre-size",
        "azure-zone-number",
        "azure-lustre-maintenance",
    ]
