"""`gpufleet preflight ENV`."""

import json
import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.environment_argument import environment_argument
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpufleet.plan import Plan
    from gpufleet.preflight.azure.facts import AzureFacts
    from gpufleet.preflight.configuration import PreflightConfiguration
    from gpufleet.preflight.run import Accounts


@click.command()
@environment_argument()
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option("--preview", type=click.Path(path_type=Path),
              help="Output of `pulumi preview --json --show-sames`. Default: preview on simulated clouds.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit with 1 also if something could not be verified.")
@json_option
@exit_with_errors
def preflight(environment: str, program: Path, preview: Path | None, strict: bool, as_json: bool) -> int:
    """Check in the live account if ENVIRONMENT can be created.

    It compares the GPU pools and the network with quotas, zones, addresses and existing resources: zones that offer the
    types, vCPU quotas against current and peak use, reservations, placement groups; on AWS the quotas on Elastic IPs,
    VPCs and gateways. It only reads. A failed query (no credentials, no permission) is a warning. In a rehearsal:
    gpufleet rehearse aws-dev -- gpufleet preflight aws-dev
    """
    from gpufleet.preflight.configuration import read_configuration
    from gpufleet.preflight.run import run_preflight

    plan, values, where = _plan_and_values(environment, program, preview)
    configuration = read_configuration(values, where, date.today())
    report = run_preflight(environment, plan, configuration, _accounts(plan, configuration))
    if as_json:
        click.echo(json.dumps(report.as_json(strict), indent=2, default=str))
    else:
        for line in report.lines():
            click.echo(line)
    return report.code(strict)


def _plan_and_values(environment: str, program: Path, preview: Path | None) -> "tuple[Plan, Mapping[str, object], str]":
    """The plan, the stack's configuration, and the file that has it."""
    if preview is not None:
        from gpufleet.plan.preview import config_of, plan_of, read_preview

        said = read_preview(preview)
        return plan_of(said, str(preview)), config_of(said), str(preview)
    from gpufleet.preflight.configuration import values_in_file
    from gpufleet_rehearsal.offline_preview import plan_offline
    from gpufleet_rehearsal.workspace import Workspace

    plan = plan_offline(program, environment)
    file = Workspace.of(program).configuration(environment)
    return plan, values_in_file(file), file.name


def _accounts(plan: "Plan", configuration: "PreflightConfiguration") -> "Accounts":
    """The real accounts, or a rehearsal's when we are inside one."""
    from gpufleet.preflight.run import Accounts

    rehearsal = os.environ.get("GPUFLEET_REHEARSAL")
    if rehearsal is not None:
        from gpufleet_rehearsal.account_facts import SimulatedAws, no_azure

        return Accounts(lambda region: SimulatedAws(Path(rehearsal), region, plan.stack), no_azure, "simulated account")
    from gpufleet.preflight.aws.account import AwsAccount

    profile = configuration.values.get("aws:profile")
    known: dict[str, AwsAccount] = {}

    def aws(region: str) -> AwsAccount:
        if region not in known:
            known[region] = AwsAccount(region, plan.stack, profile if isinstance(profile, str) else None)
        return known[region]

    def azure(region: str) -> "AzureFacts":
        from gpufleet.preflight.azure.account import AzureAccount
        from gpufleet.preflight.azure.arm import ArmClient, subscription_of

        own = [resource.name for resource in plan.of_type("azure-native:batch:Pool")]
        return AzureAccount(region, ArmClient(subscription_of(configuration.values)), own)

    return Accounts(aws, azure, "live account")
