"""Import resources into the state or delete them, and remove the lock of an engine that crashed."""

import json
import re
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpufleet.adoption.match import logical_name
from gpufleet.adoption.orphans import AdoptError, Orphans
from gpufleet.fleet.retained_data import holds_data
from gpufleet.fleet.stack_state import ROOT
from gpufleet.pulumi_cli import PulumiCli


def import_resources(engine: PulumiCli, stack: str, orphans: Orphans, *, protect: bool = True) -> None:
    """Import the resources that the program declares into the state, and clear interrupted operations.

    Components that the state lacks are imported with them. With `protect`, nothing deletes what is imported before the
    next `up`, which sets the protection that the program gives. Errors: AdoptError when the engine refuses.
    """
    if orphans.wanted:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "import.json"
            file.write_text(json.dumps(_import_file(engine.state(stack), orphans)))
            options = ("--file", str(file), "--generate-code=false", f"--protect={str(protect).lower()}")
            if engine.run_operation("import", stack, *options) != 0:
                raise AdoptError(f"{stack}: the engine could not import the resources; its output is above")
    if engine.run_operation("refresh", stack, "--clear-pending-creates") != 0:
        raise AdoptError(f"{stack}: the engine could not clear interrupted operations; its output is above")


def _import_file(state: Sequence[Mapping[str, Any]], orphans: Orphans) -> dict[str, Any]:
    """What `pulumi import --file` reads: https://www.pulumi.com/docs/iac/guides/migration/import, bulk import."""
    known = {str(each["urn"]) for each in state if each["type"] != ROOT}
    ids = {str(step["urn"]): found.import_id for found, step in orphans.wanted}
    creates = {str(step["urn"]): step for step in orphans.creates if step["type"] != ROOT}
    listed = [step for urn, step in creates.items() if urn in ids or _is_above(urn, ids, creates)]
    names = {str(step["urn"]): f"resource{number}" for number, step in enumerate(listed)}
    table: dict[str, str] = {}
    resources: list[dict[str, Any]] = []
    for step in listed:
        urn, parent = str(step["urn"]), str(step.get("parent", ""))
        entry = {"type": step["type"], "name": names[urn], "logicalName": logical_name(step)}
        entry |= {"id": ids[urn], **_version(step)} if urn in ids else {"component": True}
        if parent in known:
            entry["parent"] = table.setdefault(parent, f"parent{len(table)}")
        elif parent in names:
            entry["parent"] = names[parent]
        resources.append(entry)
    return {"nameTable": {key: urn for urn, key in table.items()}, "resources": resources}


def _is_above(urn: str, ids: Mapping[str, str], creates: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a component that the state lacks has one of these among its descendants."""
    return not creates[urn].get("custom") and any(urn in _ancestors(each, creates) for each in ids)


def _ancestors(urn: str, creates: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    while urn in creates:
        urn = str(creates[urn].get("parent", ""))
        yield urn


def _version(step: Mapping[str, Any]) -> dict[str, str]:
    """The version of the program's provider: without it the engine takes the newest that is installed."""
    default = re.search(r"::default_(\d+)_(\d+)_(\d+)::", str(step.get("provider", "")))
    return {"version": ".".join(default.groups())} if default else {}


def reject_replacements(engine: PulumiCli, stack: str, imported: Container[str]) -> None:
    """Errors: AdoptError with a line for each of the imported resources (URNs) that the next `up` would replace.

    Providers do not read every input of what they import; one whose change replaces the resource then differs.
    """
    replaced = [
        step for step in engine.preview(stack) if step["op"] == "replace" and step["newState"]["urn"] in imported
    ]
    lines = [
        f"{stack}: {logical_name(step)} ({step['newState']['type']}): the next `up` would replace it, for "
        f"{', '.join(step.get('replaceReasons') or ['its inputs'])}; set in the program what the cloud has, or "
        "ignore_changes, before you run it"
        for step in replaced
    ]
    if lines:
        raise AdoptError("\n".join(lines))


def deletable(orphans: Orphans, *, erase: bool) -> Orphans:
    """Those of the wanted orphans and interrupted replacements that `delete` may delete: neither protected, nor data.

    erase: whether the configuration says that data is erased; then the program's protection alone counts.
    """
    chosen = [
        (found, step)
        for found, step in (*orphans.wanted, *orphans.interrupted)
        if not step.get("protect") and (erase or not holds_data(str(step["type"])))
    ]
    creates = (*orphans.creates, *(step for _, step in orphans.interrupted))
    return Orphans(tuple(chosen), creates=creates, declared=orphans.declared)


def delete(engine: PulumiCli, stack: str, orphans: Orphans) -> None:
    """Delete the resources: import them, so that the provider can delete them, and destroy only these.

    Errors: AdoptError when the engine refuses, also when something else in the state depends on one of them.
    """
    import_resources(engine, stack, orphans, protect=False)
    targets = [f"--target={step['urn']}" for _, step in orphans.wanted]
    if targets and engine.run_operation("destroy", stack, *targets) != 0:
        raise AdoptError(f"{stack}: the engine could not delete the resources; its output is above")


def unlock(engine: PulumiCli, stack: str) -> None:
    """Remove the lock of an engine that crashed. Errors: gpufleet.pulumi_cli.PulumiCliError."""
    engine.output_of("cancel", "--yes", "--stack", stack)
