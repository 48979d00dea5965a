"""Component: the base of every component of gpufleet.

A component is a class with its arguments (a TypedDict, the annotation of `args`), its outputs (the annotations of the
class), `findings` on the arguments, and `create`, which makes its children::

    class Budget(Component):
        budget_name: pulumi.Output[str]

        def __init__(
            self, name: str, args: BudgetArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[BudgetArgs]
        ) -> None:
            super().__init__(name, args, opts, keywords)

        @staticmethod
        def findings(name: str, args: BudgetArgs) -> list[Finding]:
            return validate_budget(args)

        def create(self, name: str, args: BudgetArgs) -> None:
            budget = budgets.Budget(f"{name}-budget", ..., opts=self.child())
            self.budget_name = budget.name

Arguments are keywords, which type checkers and editors know: ``Budget("b", environment="dev", ...)``. A dictionary is
``Budget("b", **args)``; as the second argument it is what Pulumi's component host hands over.
"""

import inspect
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import pulumi
from pulumi.output import Unknown

from gpufleet.rules.arguments import argument_known, validate_arguments
from gpufleet.rules.coerce import texts
from gpufleet.rules.rule import Finding
from gpufleet.validation import gathered, gathering, validate

Args: TypeAlias = Any
"""Arguments of some component, which says their TypedDict."""
Opts: TypeAlias = pulumi.ResourceOptions | None
KEYWORDS: Args = object()
"""In the place of a dictionary of arguments: they are keywords."""


class Component(pulumi.ComponentResource):
    """Validates its arguments, registers, makes its children and hands out its outputs.

    Errors: `gpufleet.validation.InvalidArguments` with every fault of the arguments, before anything is registered.
    Inside of `gpufleet.validation.gathering` nothing is raised: the component then is a stand-in, which registers
    nothing, and whose outputs are unknown.
    """

    _package: str

    def __init_subclass__(cls, package: str = "") -> None:
        """package: which of our Pulumi packages has the component. Default: that of its module's cloud."""
        cls._package = package or cls.__module__.split(".")[1]

    def __init__(self, name: str, args: Args, opts: Opts, keywords: Mapping[str, Any]) -> None:
        given = {**({} if args is KEYWORDS else args), **keywords}
        declared = inspect.get_annotations(type(self).__init__)["args"]
        self.args: Mapping[str, Any] = given
        self._is_stand_in = not self._may_be_made(name, given, declared)
        if self._is_stand_in:
            # All that Pulumi asks of a resource that another one depends on.
            self._childResources = set[pulumi.Resource]()
            self._remote = False
            return
        # Faults of components inside: with them this one is not registered either.
        with gathering():
            # No inputs: a component's children wait until every value that the component registers with is known.
            super().__init__(token(type(self)), name, {}, opts)
            self.create(name, given)
        self.register_outputs({output: getattr(self, output) for output in outputs(type(self))})

    def _may_be_made(self, name: str, given: Mapping[str, Any], declared: type) -> bool:
        try:
            findings = self.findings(name, given)
        except pulumi.RunError as error:
            # What an argument names cannot be had, as a file that cannot be read.
            if gathered(error):
                return False
            raise
        # Of an argument that a rule says more about, it need not be said that there is none of its name.
        explained = {each.argument for each in findings if each.refuses}
        known = [each for each in validate_arguments(given, declared) if not _is_explained(each, explained)]
        return validate(name, [*known, *findings])

    @staticmethod
    def findings(name: str, args: Args) -> list[Finding]:
        """Every finding on the arguments, besides those on their names and kinds.

        Errors: RunError where what an argument names cannot be had; inside of `gathering` it comes with the others.
        """
        return []

    def create(self, name: str, args: Args) -> None:
        """Register the children, and set every output. `args` has passed the rules."""

    def child(self, **options: Args) -> pulumi.ResourceOptions:
        """Options of a child of this component."""
        return pulumi.ResourceOptions(parent=self, **options)

    def tags(self, child: str) -> dict[str, str]:
        """Tags of a child in a cloud: those of the component, and its name."""
        return {**self.args.get("tags", {}), "Name": child}

    if not TYPE_CHECKING:  # Type checkers would take any name for an attribute.

        def __getattr__(self, name: str) -> object:
            """What a stand-in has not: its outputs, and what it would have kept of its children."""
            if name.startswith("_") or not self.__dict__.get("_is_stand_in"):
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            if typing.get_origin(outputs(type(self)).get(name)) is dict:
                return _UnknownOutputs({zone: _unknown() for zone in texts(self.args, "zones")})
            return _unknown()


def token(component: type[Component]) -> str:
    """The type of a component for the engine, as gpufleet-aws:index:Network: by its package and its class."""
    return f"gpufleet-{component._package}:index:{component.__name__}"


def outputs(component: type[Component]) -> dict[str, Any]:
    """Name -> annotation of what a component hands out."""
    return {name: hint for name, hint in inspect.get_annotations(component).items() if not name.startswith("_")}


def _is_explained(finding: Finding, arguments: set[str]) -> bool:
    return finding.rule == argument_known.name and finding.argument in arguments


class _UnknownOutputs(dict[str, pulumi.Output[Any]]):
    """A mapping of outputs of a stand-in: something unknown for each of its zones, and under any other key."""

    def __missing__(self, key: str) -> pulumi.Output[Any]:
        return _unknown()

    def __contains__(self, key: object) -> bool:
        return True


def _unknown() -> pulumi.Output[Any]:
    async def value() -> object:
        return Unknown()  # type: ignore[no-untyped-call]

    async def is_known() -> bool:
        return False

    async def resources() -> set[pulumi.Resource]:
        return set()

    return pulumi.Output(resources(), value(), is_known())
