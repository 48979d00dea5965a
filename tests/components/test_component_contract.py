"""What holds for every component of the package, found by walking it: none can be forgotten."""

import importlib
import inspect
import pkgutil

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer

import gpufleet.aws

PACKAGE = "gpufleet-aws"


def components() -> list[type[pulumi.ComponentResource]]:
    """Every component class that a module of gpufleet.aws defines."""
    found = []
    for module_info in pkgutil.iter_modules(gpufleet.aws.__path__):
        module = importlib.import_module(f"gpufleet.aws.{module_info.name}")
        for member in vars(module).values():
            own = inspect.isclass(member) and member.__module__ == module.__name__
            if own and issubclass(member, pulumi.ComponentResource):
                found.append(member)
    return sorted(found, key=lambda each: each.__name__)


def test_the_walk_finds_all_five() -> None:
    names = [each.__name__ for each in components()]
    assert names == ["Cluster", "GpuNodeGroup", "Network", "Registry", "SharedFiles"]


@pytest.mark.parametrize("component", components(), ids=lambda each: each.__name__)
def test_component_can_be_served_to_other_languages(component: type[pulumi.ComponentResource]) -> None:
    analysis = Analyzer(PACKAGE).analyze([component])
    definition = analysis["component_definitions"][component.__name__]
    assert "region" in definition.inputs
    assert definition.inputs["tags"].optional
    assert definition.outputs


@pytest.mark.parametrize("component", components(), ids=lambda each: each.__name__)
def test_component_has_the_shape_that_the_host_calls(component: type[pulumi.ComponentResource]) -> None:
    name, args, opts = list(inspect.signature(component.__init__).parameters.values())[1:]
    assert (name.name, name.annotation) == ("name", str)
    assert args.name == "args"
    assert args.annotation.__name__ == f"{component.__name__}Args"
    assert (opts.name, opts.default, opts.annotation) == ("opts", None, pulumi.ResourceOptions | None)


@pytest.mark.parametrize("component", components(), ids=lambda each: each.__name__)
def test_component_says_its_own_type_token(component: type[pulumi.ComponentResource]) -> None:
    assert f'"{PACKAGE}:index:{component.__name__}"' in inspect.getsource(component.__init__)


@pytest.mark.parametrize("component", components(), ids=lambda each: each.__name__)
def test_component_describes_each_argument_of_its_own(component: type[pulumi.ComponentResource]) -> None:
    declared = inspect.signature(component.__init__).parameters["args"].annotation
    own = vars(declared)["__annotations__"].keys() & _fields_written_in(declared)
    analysis = Analyzer(PACKAGE).analyze([component])["component_definitions"][component.__name__]
    described = {analysis.inputs_mapping[key] for key, value in analysis.inputs.items() if value.description}
    assert own - described == set()


def _fields_written_in(declared: type) -> set[str]:
    """The fields in the class body itself, without those that it inherits."""
    lines = inspect.getsource(declared).splitlines()[1:]
    return {line.split(":")[0].strip() for line in lines if line.startswith("    ") and ": " in line}
