"""What kwok is started with: its own stages, ours of pod_stages.yaml, and how much it does at a time."""

from pathlib import Path

import yaml

from tools.kubernetes.programs import programs

OURS = Path(__file__).with_name("pod_stages.yaml")
WAITING = "rehearsal.gpufleet.dev/waiting"
AT_ONCE = 16
"""Nodes, and pods, that are taken through a stage at a time. With kwok's own 4, the last of 512 nodes was
ready 16 s after it was made, with 16 after 4 to 6 s (two busy cores)."""

UPSTREAM = ("node-initialize.yaml", "node-heartbeat.yaml", "pod-ready.yaml", "pod-delete.yaml")


def write_stages(target: Path) -> None:
    """Write kwok's configuration file. A pod that is told to wait is left alone by kwok's own stage `pod-ready`.

    Raises ProgramMissing where kwok was not built.
    """
    options = {"nodePlayStageParallelism": AT_ONCE, "podPlayStageParallelism": AT_ONCE}
    kind = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration"}
    documents = [yaml.safe_dump({**kind, "options": options})]
    for name in UPSTREAM:
        stage = yaml.safe_load(programs()["kwok"].file(name).read_text(encoding="utf-8"))
        if name == "pod-ready.yaml":
            rule = {"key": f'.metadata.annotations["{WAITING}"]', "operator": "DoesNotExist"}
            stage["spec"]["selector"]["matchExpressions"].append(rule)
        documents.append(yaml.safe_dump(stage, sort_keys=False))
    target.write_text("---\n".join([*documents, OURS.read_text(encoding="utf-8")]), encoding="utf-8")
