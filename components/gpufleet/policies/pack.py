"""From judged plans to a Pulumi policy pack. The only module that knows Pulumi's policy SDK.

A concern (zones, cost, ownership) is one stack policy that refuses; one advisory policy of the pack reports what else
they found: warnings, what could not be verified, and what is suppressed. More policies would cost: the SDK unpacks all
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
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Severity, Status
from gpufleet.rules.suppression import read_suppressions, suppression_of

Judge = Callable[[Plan, Mapping[str, object]], Sequence[ResourceFinding]]
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
    """One judgement of a plan, as the policy `name` that refuses.

    properties: JSON schema of each configuration key beside `suppress`; all are optional, defaults are the judge's.
    """

    name: str
    description: str
    judge: Judge
    properties: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    _last: Sequence[ResourceFinding] = field(default=(), init=False)

    def policy(self) -> Policy:
        """The policy that refuses what breaks a rule."""
        schema = PolicyConfigSchema(properties={**self.properties, "suppress": SUPPRESS})
        return StackValidationPolicy(
            self.name, self.description, self._refuse, EnforcementLevel.MANDATORY, config_schema=schema
        )

    def take(self) -> Sequence[ResourceFinding]:
        """What the policy has judged last, once. Nothing where it is disabled: then its advice is not wanted either."""
        last, self._last = self._last, ()
        return last

    def _refuse(self, args: StackValidationArgs, report: ReportViolation) -> None:
        self._last = ()
        try:
            self._last = self._judged(args)
        except UserError as error:
            # An exception would reach the user as a traceback.
            report(f"the configuration of the policy pack: {error}", None)
        for judged in self._last:
            if judged.refuses:
                report(judged.line, judged.urn or None)

    def _judged(self, args: StackValidationArgs) -> list[ResourceFinding]:
        config = args.get_config()
        suppressions = read_suppressions(config.get("suppress"), f"{self.name}.suppress", date.today())
        return [
            ResourceFinding(
                each.resource, each.finding, each.urn, suppression_of(each.resource, each.finding, suppressions)
            )
            for each in self.judge(plan_of(args.resources), config)
        ]


def policies_of(*concerns: Concern) -> list[Policy]:
    """The policies of a pack: one for each concern, and `advice` for what all of them found and do not refuse.

    In this order they must run: the last one judges nothing again.
    """

    def advise(args: StackValidationArgs, report: ReportViolation) -> None:
        for judged in (each for concern in concerns for each in concern.take()):
            weighty = judged.finding.severity is not Severity.INFO or judged.finding.status is Status.UNVERIFIED
            if judged.finding.status is not Status.PASS and not judged.refuses and weighty:
                report(judged.line, judged.urn or None)

    description = "Warnings, what could not be verified, and what is suppressed."
    advice = StackValidationPolicy("advice", description, advise, EnforcementLevel.ADVISORY)
    return [*(concern.policy() for concern in concerns), advice]


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
