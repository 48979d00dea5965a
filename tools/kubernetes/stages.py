"""The stages that kwok is started with: its own, and ours of pod_stages.yaml."""

from pathlib import Path

import yaml

from programs import programs

OURS = Path(__file__).with_name("pod_stages.yaml")
WAITING = "rehearsal.gpufleet.dev/waiting"
UPSTREAM = ("node-initialize.yaml", "node-heartbeat.yaml", "pod-ready.yaml", "pod-delete.yaml")


def write_stages(target: Path) -> None:
    """Write kwok's configuration file. A pod that is told to wait is left alone by kwok's own stage `pod-ready`.

    Raises ProgramMissing where kwok was not built.
    """
    documents = []
    for name in UPSTREAM:
        stage = yaml.safe_load(programs()["kwok"].file(name).read_text(encoding="utf-8"))
        if name == "pod-ready.yaml":
            rule = {"key": f'.metadata.annotations["{WAITING}"]', "operator": "DoesNotExist"}
            stage["spec"]["selector"]["matchExpressions"].append(rule)
        documents.append(yaml.safe_dump(stage, sort_keys=False))
    target.write_text("---\n".join([*documents, OURS.read_text(encoding="utf-8")]), encoding="utf-8")
