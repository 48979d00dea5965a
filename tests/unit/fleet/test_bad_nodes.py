"""Bad nodes as `gpufleet ps` lists them."""

import io
import json
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from gpufleet.fleet.bad_nodes import UNHEALTHY, BadNode, bad_nodes
from gpufleet.fleet.clusters import ClusterState
from gpufleet.fleet.formats.json import fleet_to_dict
from gpufleet.fleet.formats.table import print_fleet
from gpufleet.fleet.report import FleetReport
from gpufleet.node_health import decisions

SINCE = datetime(2026, 11, 28, 5, tzinfo=UTC)
RECORD = {
    "since": SINCE.isoformat(),
    "faults": ["xid-79-gpu-0"],
    "reason": "GPU 0: XID 79",
    "fix": "replace the node",
    "cordoned": True,
}


def node(name: str, text: str | None, *, closed: bool = True) -> dict[str, Any]:
    annotations = {} if text is None else {UNHEALTHY: text}
    meta = {"name": name, "labels": {"gpufleet.dev/pool": "train"}, "annotations": annotations}
    return {"metadata": meta, "spec": {"unschedulable": closed}}


def test_records_of_the_program_are_read_by_name() -> None:
    assert UNHEALTHY == decisions.UNHEALTHY
    held = {**RECORD, "cordoned": False, "held": "not cordoned: already 1 of 3 nodes of train are"}
    accepted = json.dumps({"accepted": ["xid-79-gpu-0"]})
    nodes = [
        node("b", json.dumps(held), closed=False),
        node("a", json.dumps(RECORD)),
        node("well", None),
        node("accepted", accepted, closed=False),
    ]
    assert list(bad_nodes(nodes)) == [
        BadNode("a", "train", SINCE, "GPU 0: XID 79", "replace the node", True),
        BadNode("b", "train", SINCE, "GPU 0: XID 79", "replace the node", False, held["held"]),
    ]


def test_record_that_somebody_else_wrote_is_one_short_line() -> None:
    (unreadable,) = bad_nodes([node("a", "[1")])
    assert unreadable.reason == f"its annotation {UNHEALTHY} is not readable"
    (long,) = bad_nodes([node("a", json.dumps({**RECORD, "reason": "a\n\x1b" * 500, "since": "soon"}))])
    assert (len(long.reason), long.reason.isprintable(), long.since) == (300, True, None)


def test_table_and_json_say_what_to_do() -> None:
    listed = tuple(bad_nodes([node("gpu-3", json.dumps(RECORD))]))
    now = datetime(2026, 11, 28, 8, tzinfo=UTC)
    report = FleetReport("file:///states", [], [ClusterState("lab", "", gpus=8, bad_nodes=listed)], now)
    out = io.StringIO()
    print_fleet(report, Console(file=out, width=200))
    line = "lab: gpu-3 of pool train: bad for 3 h, cordoned: GPU 0: XID 79; replace the node\n"
    assert f"Bad nodes\n{line}" in out.getvalue()
    (cluster,) = fleet_to_dict(report)["clusters"]
    assert cluster["bad_nodes"] == [
        {
            "name": "gpu-3",
            "pool": "train",
            "since": "2026-11-28T05:00:00+00:00",
            "reason": "GPU 0: XID 79",
            "fix": "replace the node",
            "cordoned": True,
            "held": "",
        }
    ]
