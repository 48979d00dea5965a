"""Order between resources where a cloud or a cluster demands one that no argument shows."""

from collections.abc import Iterable
from typing import Any, TypeVar, cast

import pulumi

T = TypeVar("T")


def with_dependencies(value: pulumi.Output[T], *needed: pulumi.Resource) -> pulumi.Output[T]:
    """``value``, such that whoever takes it is created after ``needed`` and deleted before them.

    In a preview the result is known whenever ``value`` is. ``Output.all(value, *ids)`` would be unknown as soon as
    one of ``needed`` is new, and an unknown subnet makes the preview announce that node groups are replaced.
    """

    async def resources() -> set[pulumi.Resource]:
        return await value.resources() | set(needed)

    async def result() -> T:
        return cast(T, await value.future(with_unknowns=True))

    return pulumi.Output(resources(), result(), value.is_known(), value.is_secret())


def without_dependencies(value: pulumi.Input[T]) -> pulumi.Output[T]:
    """``value``, such that whoever takes it waits for it, and is not said to depend on what it comes from.

    For data that names compute: a protected resource keeps all that it depends on, so that a destroy which leaves the
    data would leave the network as well. Only where the cloud lets the other go first.
    """
    output = pulumi.Output.from_input(value)

    async def resources() -> set[pulumi.Resource]:
        return set()

    async def result() -> T:
        return cast(T, await output.future(with_unknowns=True))

    return pulumi.Output(resources(), result(), output.is_known(), output.is_secret())


def all_dependencies(values: Iterable[pulumi.Input[Any]]) -> list[pulumi.Output[Any]]:
    """What values come from, for `depends_on`: whoever has it is created after that, and deleted before it."""
    # Pulumi takes the resources of what it gets there, and a resource or nothing for its value.
    return [pulumi.Output.from_input(value).apply(lambda _: None) for value in values]
