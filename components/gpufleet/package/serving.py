"""The program that the engine starts for a package: it constructs our components, and says refusals in lines."""

import importlib
import inspect
import json
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pulumi
from pulumi.errors import InputPropertiesError, RunError
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.provider import ConstructResult
from pulumi.provider.server import ComponentInitError, main

from gpufleet.errors import UserError
from gpufleet.package.components import COMPONENTS
from gpufleet.package.inputs import misshapen, off_the_wire, spelling
from gpufleet.package.schema import described, extended
from gpufleet.refusal import spelt


def serve(cloud: str) -> None:
    """Serve a cloud's package to the engine that started this process; returns when the engine is done."""
    main(Package(cloud), sys.argv[1:])


class Package(ComponentProvider):
    """The package of one cloud, at the version of gpufleet itself."""

    def __init__(self, cloud: str) -> None:
        found = [entry.split(":") for entry in COMPONENTS[cloud]]
        components = [getattr(importlib.import_module(f"gpufleet.{cloud}.{module}"), kind) for module, kind in found]
        super().__init__(components, f"gpufleet-{cloud}", version=version("gpufleet"))
        schema = json.loads(self.schema or "{}")
        for kind in self._components:
            self._describe_inherited(kind, schema["resources"][f"{self._name}:index:{kind}"]["inputProperties"])
        self.schema = json.dumps(described(schema, cloud))

    def _describe_inherited(self, kind: str, inputs: Mapping[str, dict[str, Any]]) -> None:
        """Describe the arguments that stand in a TypedDict which the component's own extends: Pulumi's SDK does not."""
        declared = inspect.get_annotations(self._components[kind].__init__)["args"]
        for theirs, ours in self._component_defs[kind].inputs_mapping.items():
            texts = (self.analyzer.get_docstring(each, ours) for each in extended(declared))
            if text := next(filter(None, texts), None):
                inputs[theirs].setdefault("description", text)

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Make a component. Errors: InputPropertiesError with all refusals; anything else is a fault of ours."""
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
            with spelt(spelling(definition, self._component_defs, self._type_defs)):
                return super().construct(name, resource_type, written, options)
        except ComponentInitError as error:
            # What a component refuses is a RunError too, with a line for each fault.
            if isinstance(error.inner, RunError | UserError):
                raise _explained(str(error.inner)) from None
            raise


def _explained(*lines: str) -> InputPropertiesError:
    """Each fault on a line of its own.

    Without property paths: the engine would print the argument's value with each, as Go prints it, secret or not.
    """
    return InputPropertiesError("\n" + "\n".join(lines), [])
