"""Which Pulumi packages a program uses, and what is installed, read from files without importing anything."""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_SDK_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(pulumi_\w+)", re.MULTILINE)


def site_directories(python: str) -> list[Path]:
    """Where the packages of that interpreter lie."""
    if python == sys.executable:
        return [Path(entry) for entry in sys.path if entry]
    return sorted(Path(python).parent.parent.glob("lib/python3*/site-packages"))


def required_packages(program: Path, sites: Sequence[Path]) -> list[dict[str, object]]:
    """The packages whose SDKs the program's own files import, as JSON of `pulumirpc.PackageDependency`.

    Only what the files under `program` name: an SDK that is installed but not used must not demand its plugin, and one
    that a library uses is asked for by the engine when the first such resource is registered.
    """
    names: set[str] = set()
    for source in _sources(program):
        names.update(_SDK_IMPORT.findall(source.read_text(encoding="utf-8", errors="replace")))
    found = (_package(name, sites) for name in sorted(names))
    return [package for package in found if package is not None]


def program_dependencies(sites: Sequence[Path]) -> list[tuple[str, str]]:
    """Name and version of each installed distribution, sorted."""
    from importlib.metadata import distributions

    return sorted({(dist.name, dist.version) for dist in distributions(path=[str(site) for site in sites])})


def _sources(program: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(program):
        # Not what is installed: virtual environments (wherever they lie), hidden and cache folders.
        folders[:] = [name for name in folders if not name.startswith((".", "__")) and name != "node_modules"]
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        yield from (Path(folder, name) for name in files if name.endswith(".py"))


def _package(module: str, sites: Sequence[Path]) -> dict[str, object] | None:
    """The plugin of one SDK, from the pulumi-plugin.json that it ships; None where it has none."""
    for site in sites:
        manifest = site / module / "pulumi-plugin.json"
        if not manifest.is_file():
            continue
        plugin = json.loads(manifest.read_text(encoding="utf-8"))
        if not plugin.get("resource"):
            return None
        package: dict[str, object] = {
            "name": plugin.get("name") or module.removeprefix("pulumi_").replace("_", "-"),
            "kind": "resource",
            "version": str(plugin.get("version", "")).removeprefix("v"),
        }
        if server := plugin.get("server"):
            package["server"] = server
        if parameterization := plugin.get("parameterization"):
            package["parameterization"] = parameterization
        return package
    return None
