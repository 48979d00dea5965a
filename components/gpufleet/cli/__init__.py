"""The command line: `gpufleet ...`. One verb per file; every error is one line and a nonzero exit code.

A command imports everything beyond click when it runs.
"""

import click

from gpufleet.cli.adopt import adopt
from gpufleet.cli.catalog import catalog
from gpufleet.cli.check import check
from gpufleet.cli.choose import choose
from gpufleet.cli.comment import comment
from gpufleet.cli.cost import cost
from gpufleet.cli.data import data
from gpufleet.cli.extend import extend
from gpufleet.cli.images import images
from gpufleet.cli.jobs import jobs
from gpufleet.cli.link import link
from gpufleet.cli.nodes import nodes
from gpufleet.cli.permissions import permissions
from gpufleet.cli.pool import pool
from gpufleet.cli.preflight import preflight
from gpufleet.cli.preview import preview
from gpufleet.cli.ps import ps
from gpufleet.cli.reap import reap
from gpufleet.cli.rehearse import rehearse
from gpufleet.cli.report import report
from gpufleet.cli.secrets import secrets
from gpufleet.cli.stop import stop
from gpufleet.cli.usage import usage
from gpufleet.cli.users import users


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="gpufleet")
def main() -> None:
    """Deploy, rehearse and operate multi-node GPU training environments with Pulumi."""


for command in (
    adopt,
    catalog,
    check,
    choose,
    comment,
    cost,
    data,
    extend,
    images,
    jobs,
    link,
    nodes,
    permissions,
    pool,
    preflight,
    preview,
    ps,
    reap,
    rehearse,
    report,
    secrets,
    stop,
    usage,
    users,
):
    main.add_command(command)
