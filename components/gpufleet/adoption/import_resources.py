"""Import resources into the state or delete them, and remove the lock of an engine that crashed."""

import json
import tempfile
from pathlib import Path

from gpufleet.adoption.orphans import AdoptError, Orphans, logical_name
from gpufleet.pulumi_cli import PulumiCli


def import_resources(engine: PulumiCli, stack: str, orphans: Orphans) -> None:
    """Import the resources that the program declares into the state, and clear interrupted operations.

    Errors: AdoptError when the engine refuses.
    """
    if orphans.wanted:
        parents: dict[str, str] = {}
        resources: list[dict[str, str]] = []
        for found, step in orphans.wanted:
            parent = parents.setdefault(str(step["parent"]), f"parent{len(parents)}")
            resources.append(
                {"type": step["type"], "name": logical_name(step), "id": found.import_id, "parent": parent}
            )
        table = {key: urn for urn, key in parents.items()}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "import.json"
            file.write_text(json.dumps({"nameTable": table, "resources": resources}))
            options = ("--file", str(file), "--generate-code=false", "--protect=false")
            if engine.run_operation("import", stack, *options) != 0:
                raise AdoptError(f"{stack}: the engine could not import the resources; its output is above")
    if engine.run_operation("refresh", stack, "--clear-pending-creates") != 0:
        raise AdoptError(f"{stack}: the engine could not clear interrupted operations; its output is above")


def delete(engine: PulumiCli, stack: str, orphans: Orphans) -> None:
    """Delete the resources: import them, so that the provider can delete them, and destroy only these.

    Errors: AdoptError when the engine refuses.
    """
    import_resources(engine, stack, orphans)
    found = {(step["type"], logical_name(step)) for _, step in orphans.wanted}
    state = engine.state(stack)
    targets = [r["urn"] for r in state if (r["type"], logical_name(r)) in found]
    options = [f"--target={urn}" for urn in targets]
    if targets and engine.run_operation("destroy", stack, "--target-dependents", *options) != 0:
        raise AdoptError(f"{stack}: the engine could not delete the resources; its output is above")


def unlock(engine: PulumiCli, stack: str) -> None:
    """Remove the lock of an engine that crashed. Errors: gpufleet.pulumi_cli.PulumiCliError."""
    engine.output_of("cancel", "--yes", "--stack", stack)
