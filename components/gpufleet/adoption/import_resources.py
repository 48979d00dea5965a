"""Into the state with what the cloud holds, or out of the cloud; and the engine's lock off, where it has died."""

import json
import tempfile
from pathlib import Path

from gpufleet.adoption.orphans import AdoptError, Orphans, named
from gpufleet.pulumi_cli import PulumiCli


def import_resources(engine: PulumiCli, stack: str, orphans: Orphans) -> None:
    """Import what the program wants into the state, and clear the operations that the crash cut off.

    Errors: AdoptError when the engine refuses.
    """
    if orphans.wanted:
        parents: dict[str, str] = {}
        resources: list[dict[str, str]] = []
        for found, step in orphans.wanted:
            parent = parents.setdefault(str(step["parent"]), f"parent{len(parents)}")
            resources.append({"type": step["type"], "name": named(step), "id": found.import_id, "parent": parent})
        table = {key: urn for urn, key in parents.items()}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "import.json"
            file.write_text(json.dumps({"nameTable": table, "resources": resources}))
            options = ("--file", str(file), "--generate-code=false", "--protect=false")
            if engine.operate("import", stack, *options) != 0:
                raise AdoptError(f"{stack}: the engine could not import what was found; its words are above")
    if engine.operate("refresh", stack, "--clear-pending-creates") != 0:
        raise AdoptError(f"{stack}: the engine could not clear interrupted operations; its words are above")


def delete(engine: PulumiCli, stack: str, orphans: Orphans) -> None:
    """Delete what was found: import it, so that the provider knows how, and destroy just that.

    Errors: AdoptError when the engine refuses.
    """
    import_resources(engine, stack, orphans)
    found = {(step["type"], named(step)) for _, step in orphans.wanted}
    state = engine.state(stack)
    targets = [r["urn"] for r in state if (r["type"], named(r)) in found]
    options = [f"--target={urn}" for urn in targets]
    if targets and engine.operate("destroy", stack, "--target-dependents", *options) != 0:
        raise AdoptError(f"{stack}: the engine could not delete what was found; its words are above")


def unlock(engine: PulumiCli, stack: str) -> None:
    """Remove the lock of an engine that has died. Errors: gpufleet.pulumi_cli.PulumiCliError."""
    engine.answer("cancel", "--yes", "--stack", stack)
