"""The examples in YAML against their packages' schemas: no engine that runs YAML can be had here."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = {"yaml": "aws", "yaml-azure": "azure", "yaml-kubernetes": "kubernetes"}
"""Example -> its package."""
KINDS = {"string": str, "integer": int, "number": int | float, "boolean": bool, "array": list, "object": dict}
REFERENCE = r"\$\{(\w+)(?:\.(\w+))?(?:\[[^]]*\])?\}"
SECRETS = {"speech:kubeconfig"}
"""Configuration that no file of an example may hold."""


def example(folder: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / "examples" / folder / "Pulumi.yaml").read_text())


def schema(package: str) -> dict[str, Any]:
    return json.loads((ROOT / "components" / "packages" / f"gpufleet-{package}" / "schema.json").read_text())


class Checked:
    """What is wrong with a program: types, properties, required inputs, kinds and references."""

    def __init__(self, program: dict[str, Any], package: str) -> None:
        self.program, self.schema, self.lines = program, schema(package), list[str]()
        for name, resource in program["resources"].items():
            if resource["type"].startswith("pulumi:providers:"):
                continue
            declared = self.resource(name)
            if declared is None:
                self.lines.append(f"{name}: no type {resource['type']}")
            else:
                self.fields(name, resource["properties"], declared["inputProperties"], declared["requiredInputs"])
        for source, output in re.findall(REFERENCE, json.dumps(program).replace('\\"', "'")):
            self.reference(source, output)

    def resource(self, name: str) -> dict[str, Any] | None:
        return self.schema["resources"].get(self.program["resources"][name]["type"].replace(":", ":index:", 1))

    def reference(self, source: str, output: str) -> None:
        if source not in self.program["resources"]:
            if output or source not in {**self.program.get("variables", {}), **self.program["config"]}:
                self.lines.append(f"nothing is called {source}")
        elif output and output not in (self.resource(source) or {"properties": ()})["properties"]:
            self.lines.append(f"{source} has no output {output}")

    def fields(self, where: str, given: dict[str, Any], known: dict[str, Any], required: list[str]) -> None:
        self.lines += [f"{where}: {each} is missing" for each in required if each not in given]
        for key, value in given.items():
            if key in known:
                self.value(f"{where}.{key}", value, known[key])
            else:
                self.lines.append(f"{where}: no input {key}")

    def value(self, where: str, value: Any, declared: dict[str, Any]) -> None:
        found = re.fullmatch(REFERENCE, value) if isinstance(value, str) else None
        if found and found[1] in self.program.get("variables", {}):
            value = self.program["variables"][found[1]]
        elif found:
            if declared.get("plain") and found[1] in self.program["resources"]:
                self.lines.append(f"{where}: is plain, and {value} is known after deployment only")
            return
        kind = "object" if "$ref" in declared else declared["type"]
        if not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"):
            self.lines.append(f"{where}: {value!r} is no {kind}")
        elif "#/types/" in declared.get("$ref", ""):
            one = self.schema["types"][declared["$ref"].removeprefix("#/types/")]
            self.fields(where, value, one["properties"], one.get("required", []))
        elif inner := declared.get("items") or declared.get("additionalProperties"):
            for key, each in value.items() if isinstance(value, dict) else enumerate(value):
                self.value(f"{where}.{key}" if isinstance(value, dict) else where, each, inner)


@pytest.mark.parametrize("folder", FOLDERS)
def test_example_fits_the_schema(folder: str) -> None:
    program = example(folder)
    assert Checked(program, FOLDERS[folder]).lines == []
    config = yaml.safe_load((ROOT / "examples" / folder / "Pulumi.dev.yaml").read_text())["config"]
    given = {key for key in config if key.startswith("speech:")}
    assert given | (SECRETS & {f"speech:{key}" for key in program["config"]}) == {
        f"speech:{key}" for key in program["config"]
    }


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("cluster", "type"), "gpufleet-aws:Clutser", "cluster: no type gpufleet-aws:Clutser"),
        (("cluster", "properties", "zone"), "use1-az1", "cluster: no input zone"),
        (("cluster", "properties"), {}, "cluster: subnetIds is missing"),
        (("trainers", "properties", "max"), "two", "trainers.max: 'two' is no integer"),
        (("trainers", "properties", "max"), True, "trainers.max: True is no integer"),
        (("trainers", "properties", "types"), [6], "trainers.types: 6 is no string"),
        (("trainers", "properties", "schedule"), [{"at": "20:00", "time": "UTC"}], "trainers.schedule: no input time"),
        (("trainers", "properties", "schedule"), [{"max": 0}], "trainers.schedule: at is missing"),
        (("trainers", "properties", "schedule"), ["20:00"], "trainers.schedule: '20:00' is no object"),
        (
            ("trainers", "properties", "region"),
            "${cluster.clusterName}",
            "trainers.region: is plain, and ${cluster.clusterName} is known after deployment only",
        ),
        (("trainers", "properties", "clusterName"), "${cluster.name}", "cluster has no output name"),
        (("trainers", "properties", "clusterName"), "${clutser.clusterName}", "nothing is called clutser"),
    ],
)
def test_fault_is_found(path: tuple[str, ...], value: object, line: str) -> None:
    program = copy.deepcopy(example("yaml"))
    *way, last = path
    place = program["resources"]
    for step in way:
        place = place[step]
    place[last] = value
    assert line in Checked(program, "aws").lines
