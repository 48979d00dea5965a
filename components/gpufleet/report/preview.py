"""What a preview says of one stack, whichever form it came in: the steps, and what policy packs found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from gpufleet.errors import UserError


class State(TypedDict, total=False):
    """A resource as the engine says it; what is not named here is not read. Never its outputs: providers repeat secrets
    there without their mark (measured: `tagsAll` of a resource with a secret tag)."""

    urn: str
    type: str
    id: str
    custom: bool
    parent: str
    provider: str
    protect: bool
    retainOnDelete: bool
    inputs: dict[str, Any] | None
    dependencies: list[str] | None
    propertyDependencies: dict[str, list[str] | None] | None
    additionalSecretOutputs: list[str] | None


class BrokenInput(UserError):
    """A file that is no preview; the text is the one line for the user."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is to happen to one resource.

    op: the engine's word: same, create, update, replace, delete, import, read ... old, new: the resource before and
    after, None where there is none. diff: property path -> {"kind", "inputDiff"}, None where the provider gives none.
    reasons: properties that differ; replaces: those that cannot be changed in place.
    """

    op: str
    urn: str
    old: State | None
    new: State | None
    diff: Mapping[str, Any] | None = None
    reasons: Sequence[str] = ()
    replaces: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PolicyViolation:
    """What a policy pack has reported. level: mandatory, advisory, remediate. message: as the policy wrote it."""

    urn: str
    pack: str
    policy: str
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Said:
    """A diagnostic of the engine, the program or a provider. severity: error or warning."""

    urn: str
    severity: str
    message: str


@dataclass
class Preview:
    """One preview of one stack. file: where it is from, for messages. called: project and stack by whoever gives it:
    the plain JSON of a preview that failed before its first step does not tell.

    linked: whether it tells which resource a value was made from; the engine's event log does not.
    left_out: unchanged resources that are not in it, as without --show-sames. packs: names of policy packs that ran.
    secrets: plain texts that the engine has marked, which no output may show. from_nothing: whether it was made without
    the state of what is there. notes: what the reader has to know of how it was made.
    """

    file: str
    called: tuple[str, str] = ("", "")
    steps: list[Step] = field(default_factory=list)
    config: Mapping[str, Any] = field(default_factory=dict)
    violations: list[PolicyViolation] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    packs: tuple[str, ...] = ()
    linked: bool = True
    left_out: int = 0
    ended: bool = True
    secrets: set[str] = field(default_factory=set)
    from_nothing: bool = False
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> tuple[str, str]:
        """Project and stack, as `called` where nothing in it tells."""
        urns = (step.urn for step in self.steps)
        said = (*(each.urn for each in self.violations), *(each.urn for each in self.said))
        first = next(urns, "") or next((urn for urn in said if urn), "")
        parts = first.removeprefix("urn:pulumi:").split("::")
        return (parts[1], parts[0]) if len(parts) > 2 else self.called

    @property
    def errors(self) -> list[Said]:
        """What made the preview fail, without what policy packs said and the engine's own closing line."""
        return [each for each in self.said if each.severity == "error" and each.message.strip() != "preview failed"]
