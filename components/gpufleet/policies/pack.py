"""Pulumi policy packs from checks of a plan. The only module that imports Pulumi's policy SDK.

Each check (zones, cost, ownership) is one mandatory stack policy; one advisory policy of the pack reports the rest of
their findings: warnings, what could not be verified, and what is suppressed. More policies would cost time, because the
SDK unpacks all resources again for each.
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
from gpufleet.urn import stack_of_urn

PlanCheck = Callable[[Plan, Mapping[str, object]], Sequence[ResourceFinding]]
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
class StackPolicy:
    """One check of a plan, as the mandatory stack policy `name`.

    properties: JSON schema of each configuration key beside `suppress`; all are optional, defaults are the check's.
    """

    name: str
    description: str
    check: PlanCheck
    properties: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    _last: Sequence[ResourceFinding] = field(default=(), init=False)

    def policy(self) -> Policy:
        """The policy that rejects what breaks a rule."""
        schema = PolicyConfigSchema(properties={**self.properties, "suppress": SUPPRESS})
        return StackValidationPolicy(
            self.name, self.description, self._report, EnforcementLevel.MANDATORY, config_schema=schema
        )

    def take_findings(self) -> Sequence[ResourceFinding]:
        """The findings of the policy's last run, once; none if it is disabled, so that its advice is not reported."""
        last, self._last = self._last, ()
        return last

    def _report(self, args: StackValidationArgs, report: ReportViolation) -> None:
        self._last = ()
        try:
            self._last = self._findings(args)
        except UserError as error:
            # An exception would reach the user as a traceback.
            report(f"the configuration of the policy pack: {error}", None)
        for found in self._last:
            if found.rejects:
                report(found.line, found.urn or None)

    def _findings(self, args: StackValidationArgs) -> list[ResourceFinding]:
        config = args.get_config()
        suppressions = read_suppressions(config.get("suppress"), f"{self.name}.suppress", date.today())
        return [
            ResourceFinding(
                each.resource, each.finding, each.urn, suppression_of(each.resource, each.finding, suppressions)
            )
            for each in self.check(plan_of(args.resources), config)
        ]


def policies_of(*stack_policies: StackPolicy) -> list[Policy]:
    """The policies of a pack: one for each check, and `advice` for what all of them found and do not reject.

    In this order they must run: the last one checks nothing itself.
    """

    def advise(args: StackValidationArgs, report: ReportViolation) -> None:
        for found in (each for policy in stack_policies for each in policy.take_findings()):
            weighty = found.finding.severity is not Severity.INFO or found.finding.status is Status.UNVERIFIED
            if found.finding.status is not Status.PASS and not found.rejects and weighty:
                report(found.line, found.urn or None)

    description = "Warnings, what could not be verified, and what is suppressed."
    advice = StackValidationPolicy("advice", description, advise, EnforcementLevel.ADVISORY)
    return [*(each.policy() for each in stack_policies), advice]


def plan_of(resources: Sequence[PolicyResource]) -> Plan:
    """The plan that a stack policy is given, with plain values."""
    stack = stack_of_urn(resources[0].urn)[1] if resources else ""
    return Plan(stack, [_resource(each) for each in resources])


def _resource(resource: PolicyResource) -> Resource:
    provider = plain(resource.provider.props) if resource.provider else {}
    region = provider.get("region") or provider.get("location") if isinstance(provider, Mapping) else None
    inputs = plain(resource.props)
    assert isinstance(inputs, dict)
    return Resource(
        urn=resource.urn,
        type=resource.resource_type,
        inputs=inputs,
        depends={key: [each.urn for each in sources] for key, sources in resource.property_dependencies.items()},
        parent=resource.parent.urn if resource.parent else "",
        provider_region=region if isinstance(region, str) else None,
        ignored=frozenset(resource.opts.ignore_changes),
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
