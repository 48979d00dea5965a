"""The Grafana dashboard of GPU environments: JSON of Grafana's dashboard schema, version 42, from panels.json."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpufleet.documents.json import read_json

UID = "gpufleet-environment"
_COLUMNS = 24
"""Width of Grafana's grid. Source: its dashboard schema, gridPos: grafana.com/docs/grafana/latest/visualizations/
dashboards/build-dashboards/view-dashboard-json-model."""
_HEIGHTS = {"stat": 4, "timeseries": 8, "bargauge": 8}
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_REDUCE = {"values": False, "calcs": ["lastNotNull"], "fields": ""}
_LEGEND = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}


def dashboard() -> dict[str, Any]:
    """The dashboard, to import in Grafana, or for its sidecar in a ConfigMap. It asks for the data source."""
    content = _content()
    return {
        "uid": UID,
        "title": "gpufleet: GPUs, network and cost",
        "description": "GPU activity, power, network and cost an hour, by job, team and pool.",
        "tags": ["gpufleet"],
        "timezone": "browser",
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "1m",
        "schemaVersion": 42,
        "templating": {"list": [_data_source(), *map(_variable, content["variables"])]},
        "annotations": {"list": []},
        "panels": [_panel(number, *each) for number, each in enumerate(_placed(content["panels"]), 1)],
    }


def queries() -> list[str]:
    """Every query of the panels as Prometheus gets it where nothing is filtered."""
    found = [query for panel in _content()["panels"] for query, _ in panel["queries"]]
    return [unfiltered(query) for query in found]


def unfiltered(query: str) -> str:
    """A query with each variable at All, which Grafana writes as the variable's allValue."""
    for variable in _content()["variables"]:
        query = query.replace(f"${variable['name']}", ".*")
    return query


def _content() -> Mapping[str, Any]:
    content: Mapping[str, Any] = read_json(Path(__file__).with_name("panels.json"))
    return content


def _placed(panels: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Mapping[str, int]]]:
    """Each panel with its place: in rows from the left, each as high as its first panel."""
    found = list[tuple[Mapping[str, Any], Mapping[str, int]]]()
    left = top = high = 0
    for panel in panels:
        if left + panel["width"] > _COLUMNS:
            left, top = 0, top + high
        high = _HEIGHTS[panel["type"]]
        found.append((panel, {"x": left, "y": top, "w": panel["width"], "h": high}))
        left += panel["width"]
    return found


def _panel(number: int, panel: Mapping[str, Any], place: Mapping[str, int]) -> dict[str, Any]:
    kind = panel["type"]
    now = kind != "timeseries"
    defaults: dict[str, Any] = {"unit": panel["unit"], "min": 0}
    if panel["unit"] == "percentunit":
        defaults["max"] = 1
    if kind == "timeseries":
        defaults["custom"] = {"fillOpacity": 10, "lineWidth": 1, "showPoints": "never"}
        if panel.get("stack"):
            defaults["custom"] |= {"fillOpacity": 40, "stacking": {"mode": "normal", "group": "A"}}
    return {
        "id": number,
        "type": kind,
        "title": panel["title"],
        "datasource": _SOURCE,
        "gridPos": dict(place),
        "targets": [
            {
                "refId": "ABCDEFGH"[at],
                "datasource": _SOURCE,
                "editorMode": "code",
                "expr": query,
                "legendFormat": legend,
                "instant": now,
                "range": not now,
            }
            for at, (query, legend) in enumerate(panel["queries"])
        ],
        "options": _options(kind),
        "fieldConfig": {"defaults": defaults, "overrides": []},
    }


def _options(kind: str) -> dict[str, Any]:
    if kind == "timeseries":
        return {"legend": _LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "stat":
        return {
            "graphMode": "none",
            "colorMode": "value",
            "justifyMode": "auto",
            "textMode": "value",
            "wideLayout": True,
            "showPercentChange": False,
            "reduceOptions": _REDUCE,
            "percentChangeColorMode": "standard",
            "orientation": "auto",
        }
    return {
        "displayMode": "basic",
        "valueMode": "text",
        "namePlacement": "auto",
        "showUnfilled": True,
        "sizing": "auto",
        "minVizWidth": 8,
        "minVizHeight": 16,
        "maxVizHeight": 40,
        "legend": {**_LEGEND, "showLegend": False},
        "reduceOptions": _REDUCE,
        "orientation": "horizontal",
    }


def _data_source() -> dict[str, Any]:
    return {"type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "hide": 0}


def _variable(variable: Mapping[str, str]) -> dict[str, Any]:
    return {
        "type": "query",
        "name": variable["name"],
        "label": variable["label"],
        "datasource": _SOURCE,
        "query": f"label_values({variable['metric']}, {variable['of']})",
        "definition": f"label_values({variable['metric']}, {variable['of']})",
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }
