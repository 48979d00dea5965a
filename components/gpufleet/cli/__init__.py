"""The command line: `gpufleet ...`. One verb per file; every error is one line and a nonzero exit code.

A command imports everything beyond click when it runs.
"""

from collections.abc import Mapping, Sequence

import click

from gpufleet.cli.adopt import adopt
from gpufleet.cli.catalog import catalog
from gpufleet.cli.check import check
from gpufleet.cli.choose import choose
from gpufleet.cli.comment import comment
from gpufleet.cli.cost import cost
from gpufleet.cli.dashboards import dashboards
from gpufleet.cli.data import data
from gpufleet.cli.extend import extend
from gpufleet.cli.images import images
from gpufleet.cli.init import init
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
from gpufleet.cli.watch import watch

SECTIONS: Mapping[str, Sequence[click.Command]] = {
    "Choose and plan": (catalog, choose, init, cost, rehearse),
    "Review": (preview, report, comment, permissions, preflight),
    "Deploy and operate": (images, check, link, nodes, pool, watch, ps, dashboards, stop, extend, reap, adopt),
    "Train": (jobs, data, secrets, users, usage),
}
"""The verbs as the help lists them: in the order in which a team needs them."""


class _Sections(click.Group):
    """A group whose help lists its commands by section."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        longest = max(len(name) for name in self.commands)
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                rows = [(each.name or "", each.get_short_help_str(formatter.width)) for each in commands]
                formatter.write_dl([(name.ljust(longest), text) for name, text in rows])


@click.group(cls=_Sections, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="gpufleet")
def main() -> None:
    """Deploy, rehearse and operate multi-node GPU training environments with Pulumi."""


for section in SECTIONS.values():
    for command in section:
        main.add_command(command)
