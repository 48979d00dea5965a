"""From previews to the report."""

import subprocess
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from gpufleet.cost.estimate import Estimate, estimate
from gpufleet.cost.prices import catalog_of
from gpufleet.cost.usage_assumptions import UsageAssumptions, read_usage
from gpufleet.plan.preview import setting
from gpufleet.plan.resource import Plan
from gpufleet.report.changes import compare_previews, count_operations, resource_changes
from gpufleet.report.cost_delta import cost_summary, remaining_budgets, sum_costs
from gpufleet.report.data_stores import data_stores
from gpufleet.report.finding_comparison import FindingsBefore, gone_findings, mark_known, said_in_log, untouched_names
from gpufleet.report.findings import OWN_PACKS, POLICIES, merge_findings, preview_findings, validate_plan
from gpufleet.report.gpu_pools import gpu_pools
from gpufleet.report.model import SCHEMA, CostSummary, Footer, Issue, Report, StackReport, Verdict
from gpufleet.report.preview import InvalidPreview, Preview
from gpufleet.report.states import plan_after, plan_before
from gpufleet.report.surroundings import surroundings
from gpufleet.report.text import usd

PolicyConfig = Mapping[str, Mapping[str, object]]
VERDICTS: Sequence[Verdict] = ("failed", "refused", "warned", "passed")


def build_report(
    previews: Sequence[Preview],
    *,
    befores: Sequence[Preview] = (),
    from_nothing: bool = False,
    policy_config: PolicyConfig | None = None,
    policy_configs: Mapping[tuple[str, str], PolicyConfig] | None = None,
    usage: UsageAssumptions | None = None,
    commit: str | None = None,
    today: date | None = None,
) -> Report:
    """One report on previews of one or many stacks.

    previews: two of one stack are taken together: the engine's event log has what policy packs found, the plain JSON
    has the rest. befores: previews of the base branch, by stack, instead of the state that the previews start from.
    from_nothing: whether the previews were made without a state, so that there is nothing to compare with.
    policy_config: configuration by policy (zones, cost, ownership). policy_configs: of single stacks (project, name)
    instead. usage: assumptions instead of the stack's own.
    Errors: InvalidPreview, and UserError for invalid settings.
    """
    today = today or date.today()
    config = _known(policy_config or {})
    configs = {name: _known(each) for name, each in (policy_configs or {}).items()}
    old = {preview.name: preview for preview in _paired(befores)}
    found, estimates = [], []
    for preview in sorted(_paired(previews), key=lambda each: each.name):
        base = old.pop(preview.name, None)
        nothing = from_nothing or preview.from_nothing
        stack, cost = _stack(preview, base, nothing, configs.get(preview.name, config), usage, today)
        found.append(stack)
        estimates.append(cost)
    for name in old:
        raise InvalidPreview(
            f"{old[name].file}: of {'/'.join(name)}, for which no preview was given; add it with --preview"
        )
    return Report(
        schema=SCHEMA,
        verdict=min((each.verdict for each in found), key=VERDICTS.index, default="passed"),
        total=sum_costs(each.cost for each in found),
        stacks=found,
        footer=_footer(estimates, commit, today),
    )


def checked_out_commit(folder: Path) -> str | None:
    """The commit that is checked out in a folder, None where git does not tell."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _known(config: PolicyConfig) -> PolicyConfig:
    for name in config:
        if name not in POLICIES:
            raise InvalidPreview(f"policy configuration: {name}: unknown policy; use one of {', '.join(POLICIES)}")
    return config


def _paired(previews: Sequence[Preview]) -> list[Preview]:
    """One preview a stack: the plain JSON with what the event log of the same stack adds. Errors: InvalidPreview."""
    found: dict[tuple[str, str], Preview] = {}
    for preview in previews:
        name = preview.name
        if name == ("", ""):
            raise InvalidPreview(f"{preview.file}: does not name a stack: {_why_empty(preview)}")
        other = found.get(name)
        if other is None:
            found[name] = preview
        elif other.linked == preview.linked:
            raise InvalidPreview(
                f"{preview.file}: of {'/'.join(name)}, as {other.file}; give one preview of each stack"
            )
        else:
            plain, log = (other, preview) if other.linked else (preview, other)
            plain.violations, plain.packs, plain.diagnostics = log.violations, log.packs, log.diagnostics
            plain.secrets |= log.secrets
            plain.ended = plain.ended and log.ended
            found[name] = plain
    return list(found.values())


def _why_empty(preview: Preview) -> str:
    said = " ".join(" ".join(each.message.split()) for each in preview.errors)
    if said:
        return f"it failed before its first step; write --preview STACK={preview.file} to name the stack: {said}"
    return "no steps in it; run it with --show-sames"


def _stack(
    preview: Preview,
    base: Preview | None,
    from_nothing: bool,
    config: PolicyConfig,
    usage: UsageAssumptions | None,
    today: date,
) -> tuple[StackReport, Estimate]:
    after = plan_after(preview)
    before = _before(preview, base, from_nothing, after)
    assumed = usage or read_usage(setting(preview.config, "usage"), "gpufleet:usage")
    will = estimate(after, assumed, today)
    was = None if before is None else estimate(before, assumed, today)
    failed = bool(preview.errors)
    judged: list[Issue] = []
    earlier: list[Issue] | None = None
    passed = 0
    suppress = setting(preview.config, "suppress")
    if preview.linked and not failed:
        judgement = validate_plan(after, will, config, suppress, today)
        judged, passed = list(judgement.issues), judgement.passed
        if before is not None and was is not None and before.resources:
            earlier = list(validate_plan(before, was, config, suppress, today).issues)
    changes = compare_previews(base, preview) if base else resource_changes(preview)
    cost = None if failed else cost_summary(was, will)
    said = None if preview.base_log is None else said_in_log(preview.base_log, preview.secrets)
    others = preview_findings(preview)
    known = FindingsBefore(earlier, [*judged, *others], said, untouched_names(preview))
    issues = mark_known(merge_findings(judged, others, preview.packs), known)
    made = StackReport(
        project=preview.name[0],
        stack=preview.name[1],
        verdict=_verdict(failed, issues),
        cost=cost,
        changes=changes,
        unchanged=sum(step.op == "same" for step in preview.steps) + preview.left_out,
        summary=count_operations(changes),
        gpus=gpu_pools(was, will, changes),
        stored=data_stores(before, after, changes),
        issues=issues,
        checks_passed=passed,
        budgets=remaining_budgets(after, will),
        unpriced=[*will.unknowns, *(f"not priced: {kind} ({n} of it)" for kind, n in sorted(will.not_priced.items()))],
        assumptions=[] if failed else will.assumptions,
        notes=_notes(preview, base, from_nothing, cost),
        # A preview that failed did not come to all there is.
        gone=[] if failed else gone_findings(issues, known),
        compared=known.compared,
        surroundings=surroundings(before, after, changes),
    )
    return made, will


def _before(preview: Preview, base: Preview | None, from_nothing: bool, after: Plan) -> Plan | None:
    if base is not None:
        return plan_after(base)
    return None if from_nothing else plan_before(preview, after)


def _verdict(failed: bool, issues: Sequence[Issue]) -> Verdict:
    if failed:
        return "failed"
    if any(each.rejects for each in issues):
        return "refused"
    told = [each for each in issues if each.suppressed is None and each.severity != "info"]
    return "warned" if told else "passed"


def _notes(preview: Preview, base: Preview | None, from_nothing: bool, cost: CostSummary | None) -> list[str]:
    notes = list(preview.notes)
    if cost is None:
        notes.append("The preview ended with an error. Later resources are missing, and costs are not estimated.")
    if from_nothing and base is None:
        notes.append("Previewed from nothing on simulated clouds: there is no state to compare with.")
    if base is not None:
        notes.append(
            f"Compared with {base.file}: whether a change is made in place or by replacement, only a state tells."
        )
    if cost is not None and (elsewhere := cost.committed.usd_month_change):
        notes.append(
            "Nodes on a reservation that was bought elsewhere are paid with or without this stack: their "
            f"{usd(elsewhere, signed=True)} a month are only real once the reservation itself is changed."
        )
    if preview.left_out:
        notes.append(
            f"{preview.left_out} unchanged resources are not in the preview: figures and findings are without them. "
            "Run it with --show-sames."
        )
    if not preview.linked:
        notes.append(
            "From the engine's event log alone, which does not say what a value was made from: figures that follow "
            "from that are missing, and findings are those of the policy packs. Give the output of `pulumi preview "
            "--json --show-sames` as well."
        )
        if not any(pack in OWN_PACKS for pack in preview.packs):
            notes.append("No policy pack of gpufleet ran: nothing was checked.")
    return notes


def _footer(estimates: Sequence[Estimate], commit: str | None, today: date) -> Footer:
    clouds = sorted({cloud for each in estimates for cloud in each.clouds})
    days = sorted({tag.as_of for each in estimates for tag in each.tags if tag.as_of})
    return Footer(
        gpufleet=version("gpufleet"),
        commit=commit,
        day=today.isoformat(),
        catalog={cloud: catalog_of(cloud).edition for cloud in clouds},
        prices_from=days[0] if days else None,
        prices_to=days[-1] if days else None,
    )
