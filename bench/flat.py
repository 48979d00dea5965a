"""A flat program, as one would write it by hand on the SDK, of the very resources that a program of ours has made.

It is written anew for each run from the state and the preview of our program, so it never lags behind: one call of the
SDK for each resource, literal inputs as dictionaries (as Pulumi's registry writes them), and outputs of the resources
before where our program uses outputs. Order that our program demands without using an output is a `depends_on`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.kubernetes.objects import sdk_class
from gpufleet_rehearsal.inputs.validate import types

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What stands in a preview for a value that only an `up` will know."""
SECRET = "4dabf18193072939515e22adb298388d"
"""The key by which a state marks a secret."""
SHORTEST = 6
"""Characters of an output that is looked for inside of longer texts."""
PROVIDER = "pulumi:providers:"


def made(resource: Mapping[str, Any]) -> bool:
    """Whether a resource is one that the program makes: of a cloud, or a provider that is not the engine's own."""
    name = resource["urn"].rpartition("::")[2]
    return bool(resource.get("custom")) and not (resource["type"].startswith(PROVIDER) and name.startswith("default"))


@dataclass(frozen=True)
class Output:
    """An output of an earlier resource: how the program says it, its value, and whether a preview knows it."""

    urn: str
    said: str
    value: object
    known: bool


def flat_program(state: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]) -> str:
    """The text of the program.

    state: the exported resources (with secrets shown) after an `up`. steps: of the preview before it.
    Errors: ValueError when a value of ours cannot be said with the outputs of its dependencies.
    """
    previewed = {step["urn"]: step["newState"] for step in steps}
    resources = [resource for resource in state if made(resource)]
    names = {resource["urn"]: f"r{number}" for number, resource in enumerate(resources)}
    known: dict[str, list[Output]] = {}
    lines: list[str] = []
    for resource in resources:
        writer = Writer(resource, known, names)
        lines += writer.call(previewed[resource["urn"]]["inputs"])
        known[resource["urn"]] = list(outputs_of(resource, names[resource["urn"]]))
    everything = [output for outputs in known.values() for output in outputs]
    for name, value in next(r for r in state if r["type"] == "pulumi:pulumi:Stack")["outputs"].items():
        lines.append(f"pulumi.export({name!r}, {said_of_export(value, everything)})")
    modules = sorted({called(each["type"]).partition(".")[0] for each in resources} - {"k8s"})
    imports = ["import pulumi", "import pulumi_kubernetes as k8s", f"from pulumi_aws import {', '.join(modules)}"]
    return "\n".join([*imports, "", *lines, ""])


def called(token: str) -> str:
    """What a program calls to make a resource of a type: ec2.Vpc for aws:ec2/vpc:Vpc.

    Of Kubernetes k8s.apps.v1.DaemonSet for kubernetes:apps/v1:DaemonSet, and k8s.apiextensions.CustomResource for the
    kinds that its SDK does not know.
    """
    package, module, kind = token.split(":")
    if token == f"{PROVIDER}kubernetes":
        return "k8s.Provider"
    if package == "kubernetes" and sdk_class({"apiVersion": module, "kind": kind}):
        group, _, version = module.partition("/")
        return f"k8s.{group.partition('.')[0]}.{version}.{kind}"
    return "k8s.apiextensions.CustomResource" if package == "kubernetes" else f"{module.partition('/')[0]}.{kind}"


class Writer:
    """Writes the call that makes one resource."""

    def __init__(
        self, resource: Mapping[str, Any], known: Mapping[str, Sequence[Output]], names: Mapping[str, str]
    ) -> None:
        self._resource, self._known, self._names = resource, known, names
        self._used: set[str] = set()

    def call(self, preview: Mapping[str, Any]) -> list[str]:
        """The lines of the call. preview: the inputs as a preview shows them."""
        resource = self._resource
        token = resource["type"]
        call = called(token)
        # Without a shape, names inside of an argument are the provider's own, as in a manifest.
        shapes = types("aws").get(token, {"properties": {}})["properties"]
        # A property that the program did not give has no dependencies listed: the name that the provider makes.
        given = resource.get("propertyDependencies", {})
        if token.startswith("kubernetes:") and call != "k8s.apiextensions.CustomResource":
            given = {name: value for name, value in given.items() if name not in ("apiVersion", "kind")}
        inputs = resource["inputs"]
        said = {
            name: self._say(inputs[name], preview[name], shapes.get(name, {}), given[name] or ())
            for name in inputs
            if name in given
        }
        name = resource["urn"].rpartition("::")[2]
        lines = [f"    {snake(argument)}={value}," for argument, value in said.items()]
        return [f"{self._names[resource['urn']]} = {call}({name!r},", *lines, *self._options(), ")"]

    def _options(self) -> Iterator[str]:
        resource = self._resource
        options: dict[str, str] = {}
        if resource.get("protect"):
            options["protect"] = "True"
        if resource.get("ignoreChanges"):
            options["ignore_changes"] = repr(resource["ignoreChanges"])
        if provider := self._names.get(resource.get("provider", "").rpartition("::")[0]):
            options["provider"] = provider
        unused = [self._names[urn] for urn in resource.get("dependencies", ()) if urn not in self._used]
        if unused:
            options["depends_on"] = f"[{', '.join(sorted(unused))}]"
        if options:
            yield f"    opts=pulumi.ResourceOptions({', '.join(f'{k}={v}' for k, v in options.items())}),"

    def _say(self, value: Any, preview: Any, shape: Mapping[str, Any], dependencies: Sequence[str]) -> str:
        if isinstance(value, dict) and SECRET in value:
            plain = self._say(json.loads(value["plaintext"]), preview, shape, dependencies)
            return f"pulumi.Output.secret({plain})"
        if isinstance(value, dict):
            inner = shape.get("properties", {})
            entries = (
                f"{(snake(k) if k in inner else k)!r}: "
                + self._say(v, preview[k], inner.get(k, shape.get("items", {})), dependencies)
                for k, v in value.items()
            )
            return "{" + ", ".join(entries) + "}"
        if isinstance(value, list):
            items = shape.get("items", {})
            return f"[{', '.join(self._say(v, p, items, dependencies) for v, p in zip(value, preview, strict=True))}]"
        outputs = [output for urn in dependencies for output in self._known[urn]]
        is_known = preview != UNKNOWN
        for output in outputs:
            if output.known == is_known and str(output.value) == str(value):
                self._used.add(output.urn)
                same = type(output.value) is type(value)
                return output.said if same else f"{output.said}.apply(lambda value: str(int(value)))"
        if is_known:
            # The configuration of a provider is text for the engine, and not for a program.
            is_flag = self._resource["type"].startswith(PROVIDER) and value in ("true", "false")
            return str(value == "true") if is_flag else repr(value)
        said = concatenated(str(value), outputs, self._used)
        if said is None:
            raise ValueError(f"{self._resource['urn']}: no output of its dependencies gives {value!r}")
        return said


def concatenated(text: str, outputs: Sequence[Output], used: set[str]) -> str | None:
    """A text with outputs inside as `pulumi.Output.concat(...)`; None when there is none in it."""
    inside = {
        str(o.value): o for o in outputs if not o.known and len(str(o.value)) >= SHORTEST and str(o.value) in text
    }
    if not inside:
        return None
    pattern = "|".join(map(re.escape, sorted(inside, key=len, reverse=True)))
    pieces = [piece for piece in re.split(f"({pattern})", text) if piece]
    used |= {inside[piece].urn for piece in pieces if piece in inside}
    return f"pulumi.Output.concat({', '.join(inside[p].said if p in inside else repr(p) for p in pieces)})"


def said_of_export(value: Any, outputs: Sequence[Output]) -> str:
    """A stack output: of the resource whose output it is, composed of several, or as it is."""
    if isinstance(value, dict) and SECRET in value:
        return f"pulumi.Output.secret({said_of_export(json.loads(value['plaintext']), outputs)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {said_of_export(inner, outputs)}" for key, inner in value.items()) + "}"
    exact = next((output.said for output in outputs if output.value == value), None)
    return exact or concatenated(str(value), outputs, set()) or repr(value)


def outputs_of(resource: Mapping[str, Any], variable: str) -> Iterator[Output]:
    """Everything that a resource gives to those after it: its id first, then what it computes, then its inputs."""
    urn, inputs = resource["urn"], resource["inputs"]
    yield Output(urn, f"{variable}.id", resource["id"], False)
    if resource["type"] not in types("aws"):
        return
    leaves = list(_leaves(variable, resource["outputs"], inputs, types("aws")[resource["type"]]["outputs"]))
    for known in (False, True):
        yield from (Output(urn, said, value, known) for said, value, given in leaves if given == known)
    for said, value, _ in leaves:
        # Trust policies name the account, which a program has from the ARN of something that is there.
        if isinstance(value, str) and value.startswith("arn:") and (account := value.split(":")[4]):
            yield Output(urn, f"{said}.apply(lambda arn: arn.split(':')[4])", account, False)


def _leaves(said: str, value: Any, given: Any, kind: Any) -> Iterator[tuple[str, object, bool]]:
    """Plain values inside of an output: how the program says each, its value, and whether it is an input."""
    if isinstance(value, dict) and isinstance(kind, dict):
        for key in sorted(value.keys() & kind.keys()):
            inner = given.get(key) if isinstance(given, dict) else None
            yield from _leaves(f"{said}.{snake(key)}", value[key], inner, kind[key])
    elif isinstance(value, list) and isinstance(kind, list):
        for number, item in enumerate(value):
            yield from _leaves(f"{said}[{number}]", item, given[number] if given else None, kind[0])
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield said, value, given is not None


def snake(name: str) -> str:
    """The SDK's name of a property: launchTemplate -> launch_template, ipv6CidrBlock -> ipv6_cidr_block."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def difference(ours: Sequence[Mapping[str, Any]], flat: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of resources that the previews of two programs do not make alike: type, inputs and dependencies.

    Names that the provider makes up end differently each time; these endings do not count, nor does `compat`, which the
    SDK adds to every Release, and which our components take out again.
    """
    mine, theirs = fingerprints(ours), fingerprints(flat)
    return sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))


def fingerprints(steps: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for step in steps:
        new = step["newState"]
        if made(new):
            given = {name: value for name, value in new["inputs"].items() if name != "compat"}
            inputs = re.sub(r"-[0-9a-f]{7}\"", '-#"', json.dumps(given, sort_keys=True))
            needed = sorted(urn.rpartition("::")[2] for urn in new.get("dependencies", ()))
            found[f"{new['type']} {new['urn'].rpartition('::')[2]}"] = (inputs, needed)
    return found
