"""A small report.json, in which tests write what they like."""

import json
from pathlib import Path
from typing import Any

COST = {"usd_month_before": 1.0, "usd_month_after": 2.0, "usd_month_change": 1.0, "complete": True}
FIGURES = dict.fromkeys(("floor", "steady", "busy_month", "ceiling", "committed"), COST)
COMMIT = "c1"


def stack(name: str = "aws-dev", said: str = "words", **other: Any) -> dict[str, Any]:
    """One stack of which every text is `said`."""
    pool = {
        "types": [said], "least": 0, "most": 2, "gpus": 2, "zones": [said], "market": said, "placement": said,
        "usd_hour_least": 0.0, "usd_hour_most": 1.0,
    }  # fmt: skip
    issue = {
        "resource": said, "urn": said, "rule": said, "severity": "error", "status": "fail", "line": said, "fix": said,
        "source": said, "known": False, "suppressed": None,
    }  # fmt: skip
    change = {
        "urn": said, "type": said, "name": said, "operation": "replace", "holds": said, "ends": said, "guarded": said,
        "protected": False, "retained": False, "replaced_for": [said],
        "properties": [{"path": said, "before": said, "after": said, "replaces": True}],
    }  # fmt: skip
    return {
        "project": "gpufleet",
        "stack": name,
        "verdict": "passed",
        "cost": FIGURES,
        "changes": [change],
        "unchanged": 3,
        "summary": {"replace": 1},
        "gpus": [{"name": said, "urn": said, "operation": "same", "before": pool, "after": pool}],
        "stored": [{"name": said, "kind": said, "operation": "same", "zones": [said]}],
        "issues": [
            issue,
            issue | {"status": "unverified", "severity": "warning"},
            issue | {"suppressed": {"reason": said, "until": said}},
        ],
        "checks_passed": 1,
        "budgets": [{"name": said, "urn": said, "usd_month": 1.0, "left_steady": 1.0, "left_ceiling": None}],
        "unpriced": [said],
        "assumptions": [said],
        "notes": [said],
    } | other


def report(*stacks: dict[str, Any], said: str = "words", **other: Any) -> dict[str, Any]:
    footer = {
        "gpufleet": said, "commit": COMMIT, "day": said, "catalog": {said: said}, "prices_from": said,
        "prices_to": said,
    }  # fmt: skip
    return {"schema": 1, "verdict": "passed", "total": None, "stacks": list(stacks), "footer": footer} | other


def write(folder: Path, document: object) -> Path:
    """The report in a folder, which is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(document))
    return folder
