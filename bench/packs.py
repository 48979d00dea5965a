"""What judging costs: a policy pack for each resource, a rule more, and reading the catalog."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel, Policy, StackValidationArgs, StackValidationPolicy
from pulumi_policy.policy import _PolicyAnalyzerServicer

from bench.measure import run_watched
from bench.places import REPOSITORY, Places
from gpufleet.catalog import Catalog, aws, azure
from gpufleet.plan import Plan
from gpufleet.policies.pack import StackPolicy, plan_of, policies_of
from gpufleet.rules.generic import at_least
from gpufleet.rules.resource_finding import ResourceFinding

PACKS: Mapping[str, Path] = {
    "empty": REPOSITORY / "bench" / "empty_pack",
    "zones": REPOSITORY / "policies" / "zones",
    "cost": REPOSITORY / "policies" / "cost",
}
"""Name -> directory; the first judges nothing, and shows what engine and SDK cost."""
POOLS = 546
"""Of 2 resources each: 1,092."""
RULES = (10, 50)


@dataclass(frozen=True)
class PackCost:
    """Processor seconds of a pack's own process, by number of resources in the preview that it judged."""

    pack: str
    resources: int
    seconds: float
    start: float
    """The same for a preview without any resource of a cloud."""

    @property
    def ms(self) -> float:
        """Processor milliseconds for each resource, without the start."""
        return (self.seconds - self.start) / self.resources * 1000


@dataclass(frozen=True)
class RuleCost:
    """Processor milliseconds that one rule more costs for each resource.

    together: in a concern that judges all of them; apart: as a policy of its own, as most packs are written.
    """

    together: float
    apart: float


def pack_costs(places: Places, each: int) -> list[PackCost]:
    """Previews through the real engine, with and without resources. each: resources of one node group."""
    costs = []
    for pack, folder in PACKS.items():
        seconds = [_pack_seconds(places, f"{pack}-{pools}", pools, folder) for pools in (POOLS, 0)]
        costs.append(PackCost(pack, POOLS * each, *seconds))
    return costs


def catalog_ms() -> float:
    """Milliseconds to read every file of the catalog of every cloud and join the records; median of nine."""
    found = []
    for _ in range(9):
        began = time.perf_counter()
        for cloud in (aws(), azure()):
            Catalog(cloud.folder, cloud.kind).check()
        found.append(time.perf_counter() - began)
    return statistics.median(found) * 1000


def _pack_seconds(places: Places, stack: str, pools: int, folder: Path) -> float:
    engine = places.growth(stack, {"pools": pools})
    # So many node groups break every ceiling: that the preview then fails is right, and does not matter here.
    command = ("preview", "--stack", stack, "--policy-pack", str(folder))
    return run_watched(engine, *command, may_fail=True).cpu_of["pack"]


def rule_cost() -> RuleCost:
    """Both ways in one process, on the same 1,000 resources, each with few and with many rules."""
    request = _templates(1000)
    few, many = RULES
    together = {
        count: _seconds(policies_of(StackPolicy("every-rule", "All rules.", _judge(count))), request) for count in RULES
    }
    apart = {count: _seconds([_policy(number) for number in range(count)], request) for count in RULES}
    return RuleCost(*(((each[many] - each[few]) / (many - few)) for each in (together, apart)))


def _judge(rules: int) -> Callable[[Plan, Mapping[str, object]], Sequence[ResourceFinding]]:
    def judge(plan: Plan, config: Mapping[str, object]) -> list[ResourceFinding]:
        return [
            ResourceFinding(
                resource.name, at_least(argument="disk", value=_disk(resource.inputs), least=1), resource.urn
            )
            for resource in plan.resources
            for _ in range(rules)
        ]

    return judge


def _policy(number: int) -> Policy:
    def validate(args: StackValidationArgs, report: Callable[..., None]) -> None:
        for resource in plan_of(args.resources).resources:
            finding = at_least(argument="disk", value=_disk(resource.inputs), least=1)
            if finding.rejects:
                report(finding.line(resource.name), resource.urn)

    return StackValidationPolicy(f"rule-{number}", "One rule.", validate)


def _disk(inputs: Mapping[str, Any]) -> int:
    return int(inputs["blockDeviceMappings"][0]["ebs"]["volumeSize"])


def _seconds(policies: Sequence[Policy], request: proto.AnalyzeStackRequest) -> float:
    """Least of three, in milliseconds for each resource."""
    servicer = _PolicyAnalyzerServicer("bench", "1.0.0", list(policies), EnforcementLevel.MANDATORY)
    found = []
    for _ in range(3):
        began = time.process_time()
        response = servicer.AnalyzeStack(request, None)  # type: ignore[no-untyped-call]
        found.append(time.process_time() - began)
        assert not response.diagnostics
    return min(found) / len(request.resources) * 1000


def _templates(count: int) -> proto.AnalyzeStackRequest:
    request = proto.AnalyzeStackRequest()
    for number in range(count):
        resource = request.resources.add()
        resource.type = "aws:ec2/launchTemplate:LaunchTemplate"
        resource.name = f"template-{number}"
        resource.urn = f"urn:pulumi:bench::bench::{resource.type}::{resource.name}"
        resource.properties.update(
            {
                "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 100, "encrypted": "true"}}],
                "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
                "networkInterfaces": [
                    {"deviceIndex": 0, "networkCardIndex": card, "interfaceType": "efa", "securityGroups": ["sg-1"]}
                    for card in range(4)
                ],
                "tags": {"owner": "platform-team", "project": "bench", "environment": "bench"},
            }
        )
    return request
