"""The command line: `gpufleet ...`. One verb, one file; every error is one line and an exit code that is not 0.

What a command needs beyond click is imported when it runs.
"""

import click

from gpufleet.cli.adopt import adopt
from gpufleet.cli.catalog import catalog
from gpufleet.cli.check import check
from gpufleet.cli.cost import cost
from gpufleet.cli.data import data
from gpufleet.cli.images import images
from gpufleet.cli.jobs import jobs
from gpufleet.cli.pool import pool
from gpufleet.cli.preflight import preflight
from gpufleet.cli.rehearse import rehearse


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="gpufleet")
def main() -> None:
    """Multi-node GPU training environments with Pulumi: rehearse them, repair them, know them."""


for command in (adopt, catalog, check, cost, data, images, jobs, pool, preflight, rehearse):
    main.add_command(command)
