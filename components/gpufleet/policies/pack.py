"""From judged plans to a Pulumi policy pack. The only module that knows Pulumi's policy SDK.

A concern (zones, cost) is two stack policies over one judgement: the mandatory one reports what refuses, the advisory
one warnings, what could not be verified, and what is suppressed. More policies would cost: the SDK unpacks all
resources again for each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from gpufleet.errors import UserError
from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.rules.judged import Judged
from gpufleet.rules.rule import Severity, Status
from gpufleet.rules.suppression import read_suppressions, suppression_of

Judge = Callable[[Plan, Mapping[str, object]], Sequence[Judged]]
"""From a plan and the policy's configuration to findings. Errors: UserError for a configuration that makes no sense."""

SUPPRESS: dict[str, Any] = {
    "type": "array",
    "description": "Rules to live with for a while: [{rule, reason, expires, resource}].",
    "items": {
        "type": "object",
        "required": ["rule", "reason", "expires"],
        "properties": {key: {"type": "string"} for key in ("rule", "reason", "expires", "resource")},
    },
}


@dataclass
class Concern:
    """One judgement as two policies of a pack: `name` refuses, `name-advice` tells.

    properties: JSON schema of each configuration key beside `suppress`; all are optional, defaults are the judge's.
    """

    name: str
    description: str
    judge: Judge
    properties: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    _last: Sequence[Judged] | None = field(default=None, init=False)

    def policies(self) -> list[Policy]:
        """The mandatory policy and its advisory companion, in the order in which they must run."""
        schema = PolicyConfigSchema(properties={**self.properties, "suppress": SUPPRESS})
        refusing = StackValidationPolicy(
            self.name,
            self.description,
            self._refuse,
            EnforcementLevel.MANDATORY,
            schema,
        )
        advising = StackValidationPolicy(
            f"{self.name}-advice",
            f"{self.description} Warnings, and what could not be verified.",
            self._advise,
            EnforcementLevel.ADVISORY,
            schema,
        )
        return [refusing, advising]

    def _refuse(self, args: StackValidationArgs, report: ReportViolation) -> None:
        try:
            self._last = self._judged(args)
        except UserError as error:
            # An exception would reach the user as a traceback.
            report(f"the configuration of the policy pack: {error}", None)
            self._last = ()
        for judged in self._last:
            if judged.refuses:
                report(judged.line, judged.urn or None)

    def _advise(self, args: StackValidationArgs, report: ReportViolation) -> None:
        # What the mandatory policy has judged a moment ago; by itself it runs only where that one is disabled.
        judged, self._last = self._last, None
        if judged is None:
            try:
                judged = self._judged(args)
            except UserError as error:
                report(f"the configuration of the policy pack: {error}", None)
                return
        for each in judged:
            weighty = each.finding.severity is not Severity.INFO or each.finding.status is Status.UNVERIFIED
            if each.finding.status is not Status.PASS and not each.refuses and weighty:
                report(each.line, each.urn or None)

    def _judged(self, args: StackValidationArgs) -> list[Judged]:
        config = args.get_config()
        suppressions = read_suppressions(config.get("suppress"), f"{self.name}.suppress", date.today())
        return [
            Judged(each.resource, each.finding, each.urn, suppression_of(each.resource, each.finding, suppressions))
            for each in self.judge(plan_of(args.resources), config)
        ]


def plan_of(resources: Sequence[PolicyResource]) -> Plan:
    """The plan that a stack policy is given, with plain values."""
    stack = resources[0].urn.split(":")[2] if resources else ""
    return Plan(stack, [_resource(each) for each in resources])


def _resource(resource: PolicyResource) -> Resource:
    provider = plain(resource.provider.props) if resource.provider else {}
    said = provider.get("region") or provider.get("location") if isinstance(provider, Mapping) else None
    inputs = plain(resource.props)
    assert isinstance(inputs, dict)
    return Resource(
        urn=resource.urn,
        type=resource.resource_type,
        inputs=inputs,
        depends={key: [each.urn for each in found] for key, found in resource.property_dependencies.items()},
        parent=resource.parent.urn if resource.parent else "",
        provider_region=said if isinstance(said, str) else None,
        waits_for=frozenset(each.urn for each in resource.dependencies),
    )


def plain(value: object) -> object:
    """A value behind the SDK's proxies, with `UNKNOWN` where the SDK raises for what is not known at preview."""
    if isinstance(value, Mapping):
        return {key: _known(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_known(value, index) for index in range(len(value))]
    return value


def _known(holder: Mapping[str, object] | Sequence[object], key: object) -> object:
    try:
        return plain(holder[key])  # type: ignore[index,call-overload]
    except UnknownValueError:
        return UNKNOWN
