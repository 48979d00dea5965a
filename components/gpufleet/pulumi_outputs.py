"""Dependencies between resources that no argument expresses."""

from collections.abc import Iterable
from typing import Any, TypeVar, cast

import pulumi

T = TypeVar("T")


def with_dependencies(value: pulumi.Output[T], *needed: pulumi.Resource) -> pulumi.Output[T]:
    """``value``, with dependencies: resources that use it are created after ``needed`` and deleted before them.

    In a preview the result is known whenever ``value`` is. ``Output.all(value, *ids)`` would be unknown as soon as
    one of ``needed`` is new, and an unknown subnet makes the preview announce that node groups are replaced.
    """

    async def resources() -> set[pulumi.Resource]:
        return await value.resources() | set(needed)

    async def result() -> T:
        return cast(T, await value.future(with_unknowns=True))

    return pulumi.Output(resources(), result(), value.is_known(), value.is_secret())


def without_dependencies(value: pulumi.Input[T]) -> pulumi.Output[T]:
    """``value`` without its dependencies: resources that use it wait for it, but the engine records no dependency.

    For data that refers to compute: a protected resource keeps everything that it depends on, so a destroy that keeps
    the data would also keep the network. Only where the cloud allows the dependency to be deleted first.
    """
    output = pulumi.Output.from_input(value)

    async def resources() -> set[pulumi.Resource]:
        return set()

    async def result() -> T:
        return cast(T, await output.future(with_unknowns=True))

    return pulumi.Output(resources(), result(), output.is_known(), output.is_secret())


def all_dependencies(values: Iterable[pulumi.Input[Any]]) -> list[pulumi.Output[Any]]:
    """The resources of values, for `depends_on`: created before the resource that has it, deleted after it."""
    # Pulumi uses the resources of these outputs; their value must be a resource or None.
    return [pulumi.Output.from_input(value).apply(lambda _: None) for value in values]
