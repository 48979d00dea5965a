"""A preview of one stack, from either input format: its steps, and the findings of policy packs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Required, TypedDict

from gpufleet.errors import UserError


class ResourceState(TypedDict, total=False):
    """A resource as the engine reports it; other fields are not read. Never its outputs: providers repeat secrets there
    without their mark (measured: `tagsAll` of a resource with a secret tag)."""

    urn: Required[str]
    type: Required[str]
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


class InvalidPreview(UserError):
    """A file is not a valid preview; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class PreviewStep:
    """The planned operation on one resource.

    op: the engine's word: same, create, update, replace, delete, import, read ... old, new: the resource before and
    after, None where there is none. diff: property path -> {"kind", "inputDiff"}, None where the provider gives none.
    reasons: properties that differ; replaces: those that cannot be changed in place.
    """

    op: str
    urn: str
    old: ResourceState | None
    new: ResourceState | None
    diff: Mapping[str, Any] | None = None
    reasons: Sequence[str] = ()
    replaces: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PolicyViolation:
    """A violation that a policy pack reported. level: mandatory, advisory, remediate. message: the policy's."""

    urn: str
    pack: str
    policy: str
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A diagnostic of the engine, the program or a provider. severity: error or warning."""

    urn: str
    severity: str
    message: str


@dataclass
class Preview:
    """One preview of one stack. file: its source, for messages. fallback_name: project and stack as the caller gives
    them; the plain JSON of a preview that failed before its first step does not contain them.

    linked: whether it says which resource a value comes from; the engine's event log does not. left_out: number of
    unchanged resources that are not in it, as without --show-sames. packs: names of policy packs that ran. secrets:
    plain texts that the engine has marked; no output may show them. from_nothing: whether it was made without a state.
    notes: remarks on how it was made. base_log: lines that the engine printed when it deployed the base, None where it
    did not deploy one here.
    """

    file: str
    fallback_name: tuple[str, str] = ("", "")
    steps: list[PreviewStep] = field(default_factory=list)
    config: Mapping[str, Any] = field(default_factory=dict)
    violations: list[PolicyViolation] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    packs: tuple[str, ...] = ()
    linked: bool = True
    left_out: int = 0
    ended: bool = True
    secrets: set[str] = field(default_factory=set)
    from_nothing: bool = False
    notes: tuple[str, ...] = ()
    base_log: tuple[str, ...] | None = None

    @property
    def name(self) -> tuple[str, str]:
        """Project and stack, as `fallback_name` where nothing in it tells."""
        urns = (step.urn for step in self.steps)
        said = (*(each.urn for each in self.violations), *(each.urn for each in self.diagnostics))
        first = next(urns, "") or next((urn for urn in said if urn), "")
        parts = first.removeprefix("urn:pulumi:").split("::")
        return (parts[1], parts[0]) if len(parts) > 2 else self.fallback_name

    @property
    def errors(self) -> list[Diagnostic]:
        """Diagnostics that made the preview fail, without policy violations and the engine's closing line."""
        return [
            each for each in self.diagnostics if each.severity == "error" and each.message.strip() != "preview failed"
        ]
