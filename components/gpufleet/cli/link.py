"""`gpufleet link ENV`: where an environment with own servers is, what comes next, and what the site's router needs."""

import json
from pathlib import Path

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option
from gpufleet.cli.stack_options import any_team, api_if_reached, of_environment, outputs_of


@click.command()
@of_environment
@click.option("--router", is_flag=True, help="Print what the site's router needs, keys of the tunnels included.")
@json_option
@exit_with_errors
def link(environment: str, router: bool, as_json: bool, program: Path, outputs: Path | None) -> int:
    """Show the steps that remain before on-prem servers can join.

    Run it at the site: it asks the cluster's API, which answers over the line only. Exits with 1 if a step remains.
    """
    from gpufleet.jobs.settings import read_settings
    from gpufleet.onprem.link import LinkStatus, phase_of, pod_routes, router_lines, router_values
    from gpufleet.onprem.listing import rows
    from gpufleet.onprem.servers import onprem_servers_of

    told = outputs_of(environment, program, outputs)
    phase = phase_of(told)
    api, down = api_if_reached(told, environment, program) if phase else (None, "no cluster yet")
    values = router_values(told, environment) if phase or router else {}
    if router:
        found = api.find("/apis/cilium.io/v2/ciliumnodes") if api is not None else None
        routes = pod_routes(found["items"] if found else [])
        text = json.dumps({**values, "routes": routes}, indent=2)
        click.echo(text if as_json else "\n".join(router_lines(values, routes)))
        return 0
    if phase == "cluster" and api is not None:
        namespace = read_settings(told, environment, "kubernetes", any_team(told)).namespace
        if api.find(f"/api/v1/namespaces/{namespace}") is None:
            # The `up` of this phase that failed without the line has written its outputs, and made nothing there.
            phase = "cloud"
    own = onprem_servers_of(told, environment)
    # Where none are configured, none are missing.
    missing: list[str] | None = [] if own is None and phase == "cluster" else None
    if own is not None and api is not None:
        joined = {row.server for row in rows(api.get("/api/v1/nodes")["items"], {})}
        missing = [server for server in own.servers if server not in joined]
    status = LinkStatus(environment, phase, down, missing)
    click.echo(json.dumps(status.as_json, indent=2) if as_json else "\n".join(status.lines))
    return 0 if missing == [] else 1
