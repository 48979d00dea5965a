"""Served to other languages, every component registers the same resources as in a Python program.

Over the wire names are camelCase and every number is a float.
"""

import inspect
import re

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer
from pulumi.provider.experimental.component import ComponentProvider
from recorder import Recording, Registered, construct
from samples import COMPONENTS, PACKAGE, SAMPLES, TAGS, build

every_component = pytest.mark.parametrize("kind", sorted(SAMPLES))


def over_the_wire(value: object) -> object:
    """``value`` as it arrives: numbers as floats."""
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return float(value)


def camel(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def by_name(recording: Recording[object]) -> dict[str, Registered]:
    return {each.name: each for each in recording.resources}


def test_host_takes_all_components_as_one_package():
    provider = ComponentProvider(list(COMPONENTS.values()), PACKAGE)
    assert sorted(provider._component_defs) == sorted(SAMPLES)


@every_component
def test_component_has_the_shape_that_the_host_calls(kind):
    name, args, opts = list(inspect.signature(COMPONENTS[kind].__init__).parameters.values())[1:]
    assert (name.name, name.annotation) == ("name", str)
    assert (args.name, args.annotation.__name__) == ("args", f"{kind}Args")
    assert (opts.name, opts.default, opts.annotation) == ("opts", None, pulumi.ResourceOptions | None)


@every_component
def test_served_component_registers_the_same(kind, preview):
    wire = {camel(key): over_the_wire(value) for key, value in {**SAMPLES[kind], "tags": TAGS}.items()}
    provider = ComponentProvider([COMPONENTS[kind]], PACKAGE)
    served = construct(lambda: provider.construct("mine", f"{PACKAGE}:index:{kind}", wire), preview)
    direct = build(kind, preview)
    assert by_name(served) == by_name(direct)
    assert served.outputs["mine"] == direct.outputs["mine"]


@every_component
def test_served_component_publishes_what_it_declares(kind):
    provider = ComponentProvider([COMPONENTS[kind]], PACKAGE)
    declared = set(provider._component_defs[kind].outputs_mapping.values())
    assert build(kind, preview=False).outputs["mine"].keys() == declared


@every_component
def test_component_describes_each_argument_of_its_own(kind):
    declared = inspect.signature(COMPONENTS[kind].__init__).parameters["args"].annotation
    analysis = Analyzer(PACKAGE).analyze([COMPONENTS[kind]])["component_definitions"][kind]
    described = {analysis.inputs_mapping[key] for key, value in analysis.inputs.items() if value.description}
    assert fields_written_in(declared) - described == set()


def fields_written_in(declared: type) -> set[str]:
    """The fields in the class body itself, without those that it inherits."""
    lines = inspect.getsource(declared).splitlines()[1:]
    written = {line.split(":")[0].strip() for line in lines if line.startswith("    ") and ": " in line}
    return written & vars(declared)["__annotations__"].keys()
