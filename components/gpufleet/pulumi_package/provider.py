"""The component provider that the engine starts for a package: it constructs our components; errors are lines."""

import importlib
import json
import sys
import typing
from importlib.metadata import version
from typing import Any

import pulumi
from pulumi.errors import InputPropertiesError, RunError
from pulumi.provider.experimental import component as component_host
from pulumi.provider.experimental.analyzer import Analyzer, PropertyDefinition
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.provider import ConstructResult
from pulumi.provider.server import ComponentInitError, main

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.pulumi_package.components import COMPONENTS, full_name
from gpufleet.pulumi_package.inputs import misshapen, off_the_wire, spelling
from gpufleet.pulumi_package.schema import described
from gpufleet.typed_dicts import docstrings_of
from gpufleet.validation import argument_spelling


def serve(cloud: str) -> None:
    """Serve a cloud's package to the engine that started this process; returns when the engine is done."""
    main(Package(cloud), sys.argv[1:])


class TypedDictAnalyzer(Analyzer):
    """Pulumi's analyzer, which supports neither Literal types nor the docstrings of inherited arguments."""

    def analyze_property(self, arg: Any, typ: type, name: str, **more: Any) -> PropertyDefinition:  # noqa: ANN401
        """A Literal is text, and what an annotation is marked with is for configurations."""
        if typing.get_origin(arg) is typing.Annotated:
            arg = typing.get_args(arg)[0]
        return super().analyze_property(str if typing.get_origin(arg) is typing.Literal else arg, typ, name, **more)

    def get_docstring(self, typ: type, name: str) -> str | None:
        return docstrings_of(typ).get(name) if typing.is_typeddict(typ) else super().get_docstring(typ, name)


# The host makes its analyzer by this name, and has no other way to give it one.
component_host.Analyzer = TypedDictAnalyzer  # type: ignore[attr-defined]


class Package(ComponentProvider):
    """The package of one cloud, at the version of gpufleet itself."""

    def __init__(self, cloud: str) -> None:
        found = [entry.split(":") for entry in COMPONENTS[cloud]]
        components = [getattr(importlib.import_module(full_name(cloud, module)), kind) for module, kind in found]
        super().__init__(components, f"gpufleet-{cloud}", version=version("gpufleet"))
        self.schema = json.dumps(described(parse_json(self.schema or "{}", "schema"), cloud))

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Construct a component. Errors: InputPropertiesError with every error; anything else is a bug."""
        self.validate_resource_type(self._name, resource_type)
        definition = self._component_defs.get(resource_type.split(":")[-1])
        if definition is None:
            kinds = ", ".join(sorted(self._component_defs))
            raise _explained(f"{name}: {resource_type}: {self._name} has no such component; it has {kinds}")
        written = {key: off_the_wire(value) for key, value in inputs.items()}
        refused = misshapen(written, definition, self._type_defs)
        if refused:
            raise _explained(*(finding.line(name) for finding in refused))
        try:
            with argument_spelling(spelling(definition, self._component_defs, self._type_defs)):
                return super().construct(name, resource_type, written, options)
        except ComponentInitError as error:
            # Invalid arguments of a component are a RunError too, with a line for each.
            if isinstance(error.inner, RunError | UserError):
                raise _explained(str(error.inner)) from None
            raise


def _explained(*lines: str) -> InputPropertiesError:
    """Each fault on its own line.

    Without property paths: the engine would print the argument's value with each, as Go prints it, secret or not.
    """
    return InputPropertiesError("\n" + "\n".join(lines), [])
