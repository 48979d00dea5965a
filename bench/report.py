"""What `gpufleet report` takes on a preview of ten thousand resources: whole runs, as CI waits for them."""

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufleet.pulumi_cli import PulumiCli, PulumiCliError

COPIES = 10
POOLS = 334
"""Node groups of the preview that is copied: with their parts, and the stack, 1,003 resources."""
RUNS = 5
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"

_ONCE = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss * 1024 / 1e6]))
"""


@dataclass(frozen=True)
class ReportCost:
    """Medians of one kind of preview. megabytes: size of its file. cpu: processor seconds of the command, wall: by the
    clock. peak: most memory, in MB (10^6 bytes)."""

    kind: str
    resources: int
    megabytes: float
    cpu: float
    wall: float
    peak: float


def report_costs(engine: PulumiCli, stack: str, folder: Path) -> list[ReportCost]:
    """The cost of a report on COPIES of what a stack of POOLS node groups is about to be.

    Once as a stack that is made from nothing, once as one that is there, of which every second pool changes: then every
    resource is in the file twice, and both sides are priced and judged.
    Errors: PulumiCliError for a wrong answer.
    """
    folder.mkdir()
    steps = engine.preview_json(stack, "--show-sames")
    made = _copied(steps)
    there = _there(made)
    return [_cost("made from nothing", made, folder), _cost("there already", there, folder)]


def _copied(preview: dict[str, Any]) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for number in range(COPIES):
        text = json.dumps(preview["steps"]).replace("pool-", f"pool-{number}-")
        steps = json.loads(text)
        # The stack itself and its provider are there once.
        found += steps if number == 0 else [step for step in steps if "::pool-" in step["urn"]]
    return preview | {"steps": found, "changeSummary": {"create": len(found)}}


def _there(preview: dict[str, Any]) -> dict[str, Any]:
    """The same, as the engine says it of a stack that is up: old and new state in each step, and outputs."""
    found: list[dict[str, Any]] = []
    pools = 0
    for step in preview["steps"]:
        new = step["newState"] | {"outputs": step["newState"].get("inputs") or {}}
        old = json.loads(json.dumps(new)) | {"id": f"id-{len(found)}"}
        changed: dict[str, Any] = {"op": "same"}
        if new["type"] == NODE_GROUP and (pools := pools + 1) % 2:
            old["inputs"]["scalingConfig"]["maxSize"] = 1
            diff = {"scalingConfig.maxSize": {"kind": "update", "inputDiff": True}}
            changed = {"op": "update", "diffReasons": ["scalingConfig"], "detailedDiff": diff}
        found.append({"op": changed.pop("op"), "urn": step["urn"], "oldState": old, "newState": new, **changed})
    return preview | {"steps": found, "changeSummary": {}}


def _cost(kind: str, preview: dict[str, Any], folder: Path) -> ReportCost:
    file = folder / "preview.json"
    # As the engine lays it out.
    file.write_text(json.dumps(preview, indent=4))
    runs = [_run(file, folder / "out") for _ in range(RUNS + 1)][1:]
    made = json.loads((folder / "out" / "report.json").read_text())["stacks"][0]
    wanted = {"create": sum(bool(step["newState"].get("custom")) for step in preview["steps"])}
    if kind != "made from nothing":
        wanted = {"update": POOLS * COPIES // 2}
    if made["summary"] != wanted or len(made["gpus"]) != POOLS * COPIES:
        raise PulumiCliError(f"gpufleet report: {made['summary']} of {len(made['gpus'])} pools, not {wanted}")
    cpu, wall, peak = (statistics.median(each) for each in zip(*runs, strict=True))
    return ReportCost(kind, len(preview["steps"]), file.stat().st_size / 1e6, cpu, wall, peak)


def _run(file: Path, folder: Path) -> tuple[float, float, float]:
    """Processor seconds, seconds by the clock, and the most memory of one run."""
    program = str(Path(sys.executable).parent / "gpufleet")
    words = [program, "report", "--preview", str(file), "--to", str(folder), "--fail-on", "never"]
    # By a small process: the kernel counts the memory of whoever starts a process as that one's own.
    done = subprocess.run([sys.executable, "-c", _ONCE, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise PulumiCliError(f"gpufleet report: {done.stderr}")
    cpu, wall, peak = json.loads(done.stdout)
    return cpu, wall, peak
