"""`gpufleet permissions`."""

import json
import re

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.errors import UserError


@click.command()
@click.argument("role", type=click.Choice(["preview", "up", "reap", "submit"]))
@click.option("--account", required=True, metavar="ID", help="AWS account, 12 digits.")
@click.option("--region", required=True, metavar="NAME", help="Region of the environment, for instance us-east-1.")
@click.option("--environment", default="*", show_default=True, metavar="NAME", help="Pulumi stack; * for all.")
@click.option("--project", default="gpufleet", show_default=True, metavar="NAME", help="Pulumi project.")
@click.option("--bucket", default="STATE-BUCKET", show_default=True, metavar="NAME", help="Bucket of Pulumi's state.")
@click.option(
    "--github",
    metavar="ORG/REPO",
    help="Print the trust policy: one environment of this repository may assume the role.",
)
@click.option("--github-environment", metavar="NAME", help="That environment of GitHub. Default: --environment.")
@exit_with_errors
def permissions(
    role: str,
    account: str,
    region: str,
    environment: str,
    project: str,
    bucket: str,
    github: str | None,
    github_environment: str | None,
) -> int:
    """Print the IAM policies of a ROLE that runs gpufleet on AWS.

    One line of JSON for each managed policy; with --github, the role's trust policy instead. docs/permissions.md has
    the reason of each statement.
    """
    from gpufleet.aws.operator_roles import AccountPlace, github_trust, operator_policies

    if not re.fullmatch(r"\d{12}", account):
        raise UserError(f"permissions: account={account}: must be 12 digits; `aws sts get-caller-identity` shows it")
    place = AccountPlace(account, region, project, environment, bucket)
    if github is None:
        for document in operator_policies(role, place):
            click.echo(json.dumps(document, separators=(",", ":")))
        return 0
    subject = github_environment or environment
    if "*" in subject:
        raise UserError(f"permissions: github-environment={subject}: must name one environment; give its name")
    click.echo(json.dumps(github_trust(place, github, subject)))
    return 0
