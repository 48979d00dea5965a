"""`gpufleet cost ENV`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.environment_argument import environment_argument
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option

if TYPE_CHECKING:
    from gpufleet.cost.estimate import Estimate
    from gpufleet.plan import Plan
    from gpufleet.rules.resource_finding import ResourceFinding


@click.command()
@environment_argument(required=False)
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option("--preview", "preview", type=click.Path(path_type=Path),
              help="Price this output of `pulumi preview --json --show-sames` instead of an environment.")  # fmt: skip
@click.option("--usage", "usage_file", type=click.Path(path_type=Path),
              help="Assumptions in YAML that replace the stack's own; see docs/cost.md.")  # fmt: skip
@click.option("--policy-config", type=click.Path(path_type=Path),
              help="Configuration of the policy pack (JSON), for its findings.")  # fmt: skip
@click.option("--sources", is_flag=True, help="List where each price is from, and its date.")
@json_option
@exit_with_errors
def cost(
    environment: str | None,
    program: Path,
    preview: Path | None,
    usage_file: Path | None,
    policy_config: Path | None,
    sources: bool,
    as_json: bool,
) -> int:
    """Estimate what ENVIRONMENT costs, before deployment.

    Floor, steady and ceiling, for each pool and everything else.

    It needs no credentials and no backend. It only reports; the policy pack policies/cost rejects.

    \b
    gpufleet cost aws-dev
    pulumi preview --json --show-sames -s aws-dev > preview.json; gpufleet cost --preview preview.json
    """
    if (environment is None) is (preview is None):
        raise click.UsageError("give an environment or --preview FILE, for instance: gpufleet cost aws-dev")
    from datetime import date

    from rich.console import Console

    from gpufleet.cost.estimate import estimate
    from gpufleet.cost.formats.json import estimate_to_dict
    from gpufleet.cost.formats.table import print_estimate
    from gpufleet.cost.usage_assumptions import read_usage, read_usage_file
    from gpufleet.plan.preview import config_of, plan_of, setting
    from gpufleet.policies.configuration import read_policies

    said, seen_on = _preview(environment, program, preview)
    plan = plan_of(said, str(preview or environment))
    config = config_of(said)
    usage = read_usage_file(usage_file) if usage_file else read_usage(setting(config, "usage"), "gpufleet:usage")
    found = estimate(plan, usage, date.today())
    policies = read_policies(policy_config) if policy_config else {}
    findings = _findings(plan, found, policies, setting(config, "suppress"))
    if as_json:
        click.echo(json.dumps(estimate_to_dict(found, seen_on, findings), indent=2))
    else:
        print_estimate(found, seen_on, findings, Console(highlight=False), sources=sources)
    return 0


def _preview(environment: str | None, program: Path, file: Path | None) -> tuple[object, str]:
    """What a preview says, and where it is from."""
    if file is not None:
        from gpufleet.plan.preview import read_preview

        return read_preview(file), f"by the preview in {file}"
    from gpufleet_rehearsal.offline_preview import preview_offline

    assert environment is not None
    return preview_offline(program, environment), "planned from nothing on simulated clouds, without credentials"


def _findings(
    plan: "Plan", found: "Estimate", config: Mapping[str, Mapping[str, object]], suppress: object
) -> list["ResourceFinding"]:
    """What the policy pack for cost says and how old prices are, with what is suppressed."""
    from datetime import date

    from gpufleet.policies.cost import read_limits, validate_estimate, validate_price_age
    from gpufleet.policies.ownership import validate_ownership
    from gpufleet.rules.resource_finding import ResourceFinding
    from gpufleet.rules.suppression import read_suppressions, suppression_of

    spent, owned = config.get("cost", {}), config.get("ownership", {})
    judged = [
        *validate_estimate(plan, found, read_limits(plan.stack, spent)),
        validate_price_age(found),
        *validate_ownership(plan, owned),
    ]
    places = [(suppress, "gpufleet:suppress")]
    places += [(config.get(name, {}).get("suppress"), f"{name}.suppress") for name in ("cost", "ownership")]
    covered = [each for entries, where in places for each in read_suppressions(entries, where, date.today())]
    return [
        ResourceFinding(each.resource, each.finding, each.urn, suppression_of(each.resource, each.finding, covered))
        for each in judged
    ]
