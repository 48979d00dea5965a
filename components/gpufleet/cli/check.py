"""`gpufleet check ENV --nodes N`."""

import json
from pathlib import Path

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option
from gpufleet.cli.stack_options import api_of, of_environment, settings_of

OK, NOT_READY = 0, 1


@click.command()
@of_environment
@click.option(
    "--nodes", type=click.IntRange(min=1), required=True, metavar="N", help="Number of nodes that the run needs."
)
@click.option("--pool", metavar="NAME", help="Default: the environment's only one.")
@click.option("--bandwidth/--no-bandwidth", default=True, help="Run an all-reduce across the nodes.", show_default=True)
@click.option("--image", metavar="NAME", help="Image with nccl-tests. Default: AWS's.")
@click.option("--floor", type=click.FloatRange(min=0, max=2), metavar="PART",
              help="Minimum bus bandwidth, as a fraction of a node's network bandwidth. Default 0.5.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit with 1 also if something could not be verified.")
@json_option
@exit_with_errors
def check(
    environment: str,
    program: Path,
    outputs: Path | None,
    nodes: int,
    pool: str | None,
    bandwidth: bool,
    image: str | None,
    floor: float | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Check whether N nodes are ready for an expensive run.

    Each check says pass, fail or unverified, with the fix: nodes Ready in one zone, device plugins, GPUs and EFA, the
    shared volume; then nccl-tests across them.
    """
    from gpufleet.jobs.kubernetes.check_result import unknown_check
    from gpufleet.jobs.kubernetes.nccl_test import FLOOR, IMAGE, check_bandwidth
    from gpufleet.jobs.kubernetes.readiness_checks import check_readiness, pool_nodes
    from gpufleet.rules.rule import Status

    settings = settings_of(environment, program, outputs)
    asked = settings.pool(pool)
    api = api_of(settings)
    there = pool_nodes(api, asked)
    checks = check_readiness(api, settings, asked, nodes, there)
    if not bandwidth:
        checks.append(unknown_check("bandwidth", "not measured, as asked", "leave --no-bandwidth out"))
    elif any(each.status is Status.FAIL for each in checks):
        checks.append(unknown_check("bandwidth", "not measured while something else fails", "fix that first"))
    else:
        checks += check_bandwidth(
            api,
            settings,
            asked,
            nodes,
            there,
            lambda text: click.echo(text, err=True),
            image=image or IMAGE,
            floor=FLOOR if floor is None else floor,
        )
    failed = sum(each.status is Status.FAIL for each in checks)
    unsure = sum(each.status is Status.UNVERIFIED for each in checks)
    code = NOT_READY if failed or (strict and unsure) else OK
    if as_json:
        found = {"environment": environment, "pool": asked.name, "nodes": nodes, "code": code}
        click.echo(json.dumps(found | {"checks": [each.as_json() for each in checks]}, indent=2))
        return code
    for each in checks:
        click.echo(each.line)
    word = "not ready" if failed else "ready"
    click.echo(f"{environment}, {nodes} nodes of {asked.name}: {word}; {failed} failed, {unsure} not verified")
    return code
