"""`gpufleet cost ENV`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.exits import for_the_user
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.cost import Estimate, Usage
    from gpufleet.plan import Plan
    from gpufleet.rules.judged import Judged


@click.command()
@click.argument("environment", required=False)
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option("--preview", "preview", type=click.Path(path_type=Path),
              help="Price this output of `pulumi preview --json --show-sames` instead of an environment.")  # fmt: skip
@click.option("--usage", "usage_file", type=click.Path(path_type=Path),
              help="Assumptions in YAML, instead of the stack's own; see docs/cost.md.")  # fmt: skip
@click.option("--policy-config", type=click.Path(path_type=Path),
              help="Configuration of the policy pack (JSON), for its findings.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@for_the_user
def cost(
    environment: str | None,
    program: Path,
    preview: Path | None,
    usage_file: Path | None,
    policy_config: Path | None,
    as_json: bool,
) -> int:
    """Say what ENVIRONMENT costs before anything exists: floor, steady and ceiling, for each pool and around them.

    Needs no credentials and no backend. A table is no gate; the policy pack policies/cost is one.

    \b
    gpufleet cost aws-dev
    pulumi preview --json --show-sames -s aws-dev > preview.json; gpufleet cost --preview preview.json
    """
    if (environment is None) is (preview is None):
        raise click.UsageError("give an environment or --preview FILE, for instance: gpufleet cost aws-dev")
    from datetime import date

    from rich.console import Console

    from gpufleet.cost import estimate
    from gpufleet.cost.as_json import estimate_as_json
    from gpufleet.cost.as_table import print_estimate
    from gpufleet.plan.preview import plan_of

    said, seen_on = _preview(environment, program, preview)
    plan = plan_of(said, str(preview or environment))
    found = estimate(plan, _usage(said, usage_file), date.today())
    findings = _findings(plan, found, _policy_config(policy_config), _setting(said, "suppress"))
    if as_json:
        click.echo(json.dumps(estimate_as_json(found, seen_on, findings), indent=2))
    else:
        print_estimate(found, seen_on, findings, Console(highlight=False))
    return 0


def _preview(environment: str | None, program: Path, file: Path | None) -> tuple[object, str]:
    """What a preview says, and where it is from."""
    if file is not None:
        return _json(file, "give the output of `pulumi preview --json`"), f"by the preview in {file}"
    from gpufleet_rehearsal.planning import previewed

    assert environment is not None
    return previewed(program, environment), "made from nothing on stand-ins for the clouds, without credentials"


def _usage(preview: object, file: Path | None) -> "Usage":
    from gpufleet.cost.usage import read_usage, read_usage_file

    return read_usage_file(file) if file else read_usage(_setting(preview, "usage"), "gpufleet:usage")


def _setting(preview: object, key: str) -> object:
    """A key of ours in the stack's configuration, which a preview repeats; structured values are JSON in it."""
    config = preview.get("config") if isinstance(preview, dict) else None
    value: object = config.get(f"gpufleet:{key}") if isinstance(config, dict) else None
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _policy_config(file: Path | None) -> Mapping[str, Mapping[str, object]]:
    """Configuration by policy. A policy that is only given an enforcement level has none."""
    content = _json(file, "give the file of --policy-pack-config") if file else {}
    if not isinstance(content, dict):
        raise UserError(f'{file}: is no JSON object; write {{"cost": {{...}}, "ownership": {{...}}}}')
    return {name: each for name, each in content.items() if isinstance(each, dict)}


def _findings(
    plan: "Plan", found: "Estimate", config: Mapping[str, Mapping[str, object]], suppress: object
) -> list["Judged"]:
    """What the policy pack for cost says, with what the stack or the pack's configuration suppresses."""
    from datetime import date

    from gpufleet.policies.cost import judge_estimate, read_limits
    from gpufleet.policies.ownership import judge_ownership
    from gpufleet.rules.judged import Judged
    from gpufleet.rules.suppression import read_suppressions, suppression_of

    spent, owned = config.get("cost", {}), config.get("ownership", {})
    judged = judge_estimate(plan, found, read_limits(plan.stack, spent)) + judge_ownership(plan, owned)
    places = [(suppress, "gpufleet:suppress")]
    places += [(config.get(name, {}).get("suppress"), f"{name}.suppress") for name in ("cost", "ownership")]
    covered = [each for entries, where in places for each in read_suppressions(entries, where, date.today())]
    return [
        Judged(each.resource, each.finding, each.urn, suppression_of(each.resource, each.finding, covered))
        for each in judged
    ]


def _json(file: Path, wanted: str) -> object:
    try:
        found: object = json.loads(file.read_text(encoding="utf-8"))
        return found
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not JSON: {error}"
        raise UserError(f"{file}: {reason}; {wanted}") from error
