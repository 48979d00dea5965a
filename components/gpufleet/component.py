"""Component: the base of every component of gpufleet.

A component is a class with its arguments (a TypedDict, the annotation of `args`), its outputs (the annotations of the
class), `findings` on the arguments, and `create`, which creates its children::

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

Arguments are keywords, which type checkers and editors know: ``Budget("b", environment="dev", ...)``. Pass a dictionary
as ``Budget("b", **args)``; as the second argument only Pulumi's component host passes one.
"""

import inspect
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pulumi
from pulumi.output import Unknown

from gpufleet.automatic_names import check_automatic_name
from gpufleet.ownership import STACK_TAG, stack_mark
from gpufleet.provider_region import provider_region
from gpufleet.rules.arguments import argument_known, validate_arguments
from gpufleet.rules.aws.zones import validate_provider_region
from gpufleet.rules.coerce import texts
from gpufleet.rules.rule import Finding
from gpufleet.validation import collect_error, gathering, validate

Args: TypeAlias = Any
"""Arguments of a component; its TypedDict declares them."""
Opts: TypeAlias = pulumi.ResourceOptions | None
KEYWORDS: Args = object()
"""Default of `args`: the arguments are keywords."""


class Component(pulumi.ComponentResource):
    """Validates its arguments, registers itself, creates its children and registers its outputs.

    Errors: `gpufleet.validation.InvalidArguments` with every error in the arguments, before anything is registered.
    Inside of `gpufleet.validation.gathering` nothing is raised: the component is then a placeholder, which registers
    nothing and whose outputs are unknown.
    """

    _package: str

    _former_name: str
    _declared: type
    _outputs: Mapping[str, Any]

    def __init_subclass__(cls, package: str = "", former_name: str = "") -> None:
        """package: the Pulumi package of the component. Default: that of its module's cloud.

        former_name: the class's name in an earlier version; stacks of that version keep their resources.
        """
        cls._package = package or cls.__module__.split(".")[1]
        cls._former_name = former_name
        cls._declared = inspect.get_annotations(cls.__init__)["args"]
        cls._outputs = {name: hint for name, hint in inspect.get_annotations(cls).items() if not name.startswith("_")}

    def __init__(self, name: str, args: Args, opts: Opts, keywords: Mapping[str, Any]) -> None:
        arguments = _with_mark({**({} if args is KEYWORDS else args), **keywords}, self._declared)
        wrong_region: list[Finding] = []
        if self._package == "aws" and "region" in self._declared.__annotations__:
            known = provider_region(opts)
            arguments = {**arguments, "region": arguments.get("region", known)}
            wrong_region = validate_provider_region(arguments["region"], known)
        self.args: Mapping[str, Any] = arguments
        self._is_placeholder = not self._is_valid(name, arguments, wrong_region)
        if self._is_placeholder:
            # All that Pulumi reads of a resource that another one depends on.
            self._childResources = set[pulumi.Resource]()
            self._remote = False
            return
        # An error in a component inside: this one is not registered either.
        with gathering():
            # No inputs: a component's children wait until all inputs of the component are known.
            super().__init__(token(type(self)), name, {}, _with_checked_names(_with_former_type(type(self), opts)))
            self.create(name, arguments)
        self.register_outputs({output: getattr(self, output) for output in outputs(type(self))})

    def _is_valid(self, name: str, arguments: Mapping[str, Any], more: Sequence[Finding]) -> bool:
        try:
            findings = self.findings(name, arguments)
        except pulumi.RunError as error:
            # An argument refers to something that cannot be read, such as a file.
            if collect_error(error):
                return False
            raise
        # An unknown argument is not reported if a rule says more about it.
        explained = {each.argument for each in findings if each.rejects}
        if arguments.get("region") is None:
            # One finding says that it is missing.
            findings = [each for each in findings if each.argument != "region" or not more]
        known = [each for each in validate_arguments(arguments, self._declared) if not _is_explained(each, explained)]
        return validate(name, [*known, *more, *findings])

    @staticmethod
    def findings(name: str, args: Args) -> list[Finding]:
        """Every finding on the arguments, besides those on their names and types.

        Errors: RunError if an argument refers to something that cannot be read; `gathering` collects it too.
        """
        return []

    def create(self, name: str, args: Args) -> None:
        """Create the children and set every output. `args` has passed the rules."""

    def child(self, **options: Args) -> pulumi.ResourceOptions:
        """Options of a child of this component."""
        return pulumi.ResourceOptions(parent=self, **options)

    def tags(self, child: str) -> dict[str, str]:
        """Tags of a child in a cloud: those of the component, with its mark, and the child's name."""
        return {**self.args.get("tags", {}), "Name": child}

    if not TYPE_CHECKING:  # Type checkers would accept any attribute name.

        def __getattr__(self, name: str) -> object:
            """The outputs of a placeholder, and other attributes that `create` would have set."""
            if name.startswith("_") or not self.__dict__.get("_is_placeholder"):
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            if typing.get_origin(outputs(type(self)).get(name)) is dict:
                return _UnknownOutputs({zone: _unknown() for zone in texts(self.args, "zones")})
            return _unknown()


def token(component: type[Component]) -> str:
    """The type token of a component, from its package and class: gpufleet-aws:index:Network."""
    return f"gpufleet-{component._package}:index:{component.__name__}"


def outputs(component: type[Component]) -> Mapping[str, Any]:
    """Name -> annotation of each output of a component."""
    return component._outputs


def _with_mark(arguments: Mapping[str, Any], declared: type) -> Mapping[str, Any]:
    """The arguments with gpufleet's mark among the tags, of a component that takes tags: see `gpufleet.ownership`."""
    tags = arguments.get("tags", {})
    if "tags" not in declared.__annotations__ or not isinstance(tags, Mapping):
        return arguments
    return {**arguments, "tags": {**tags, STACK_TAG: stack_mark(pulumi.get_project(), pulumi.get_stack())}}


def _with_former_type(component: type[Component], opts: Opts) -> Opts:
    """The options with the component's former type as an alias, so that a renamed class replaces no resource."""
    if not component._former_name:
        return opts
    former = pulumi.Alias(type_=f"gpufleet-{component._package}:index:{component._former_name}")
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=[former]))


def _with_checked_names(opts: Opts) -> Opts:
    """The options with a check of the children's names, which those of a component inside of another have from it."""
    if opts is not None and isinstance(opts.parent, Component):
        return opts
    checked = pulumi.ResourceOptions(transformations=[check_automatic_name])
    return pulumi.ResourceOptions.merge(opts, checked)


def _is_explained(finding: Finding, arguments: set[str]) -> bool:
    return finding.rule == argument_known.name and finding.argument in arguments


class _UnknownOutputs(dict[str, pulumi.Output[Any]]):
    """A mapping of outputs of a placeholder: an unknown output for each of its zones, and for any other key."""

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
