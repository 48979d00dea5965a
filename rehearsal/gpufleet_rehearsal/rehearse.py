"""`gpufleet rehearse ENV`: deploy and destroy an environment with the real engine on a simulated cloud."""

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from gpufleet.onprem.servers import OUTPUT as OWN_SERVERS
from gpufleet.onprem.servers import onprem_servers_of
from gpufleet.pulumi_cli import PulumiCli, run_until_exit
from gpufleet_rehearsal.aws_services import aws_services
from gpufleet_rehearsal.azure_services import azure_services
from gpufleet_rehearsal.cloud.interpreter import Cloud, logical_name
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.seed_resources import seed_account
from gpufleet_rehearsal.cloud.store import SimulatedResource
from gpufleet_rehearsal.critical_path import format_minutes, format_path, time_to_up
from gpufleet_rehearsal.kubernetes.site_line import is_down
from gpufleet_rehearsal.onprem_cluster import JOINED, is_onprem_cluster, joins_servers
from gpufleet_rehearsal.workspace import Workspace, WorkspaceError, write_settings

DEFAULT_LATENCY_SCALE = 0.001
"""An `up` of ten simulated minutes waits for less than a second. The printed time does not depend on it."""
CLUSTERS = ("aws:eks/cluster:Cluster", "azure-native:containerservice:ManagedCluster")
ACCOUNTS = {
    "aws": "the account 000000000000",
    "azure-native": "the subscription 00000000-0000-0000-0000-000000000000",
}
FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"


@dataclass(frozen=True)
class RehearsalPlan:
    """The options of one `gpufleet rehearse` call.

    latency_scale: real seconds for one of the cloud's seconds (0: no waiting). faults: as in faults.py. seed: of
    random faults. destroy: end the environment instead of bringing it up. keep: with destroy, keep the rehearsal's
    stack even when nothing is left in the cloud. put: a file to write into the shared file system first.
    control_plane: whether simulated clusters lead to a real control plane, where it was built.
    """

    environment: str
    latency_scale: float = DEFAULT_LATENCY_SCALE
    faults: Sequence[str] = ()
    seed: int = 1
    destroy: bool = False
    keep: bool = False
    put: Path | None = None
    control_plane: bool = True


def prepare(home: Workspace, plan: RehearsalPlan) -> PulumiCli:
    """A rehearsal ready to run: its directory, its settings, and the environment's stack.

    Errors: WorkspaceError for an unknown environment, and what Workspace and PulumiCli raise.
    """
    known = home.stacks()
    if plan.environment not in known:
        raise WorkspaceError(
            f"{plan.environment}: environment not found; the project has: {', '.join(known) or 'none'}"
        )
    home.prepare()
    settings = {"latency_scale": plan.latency_scale, "seed": plan.seed, "faults": list(plan.faults)}
    write_settings(home, settings | {"control_plane": plan.control_plane})
    # What the account holds lies in the region that the environment is in.
    region = {"region": home.config(plan.environment).get("aws:region")}
    cloud = open_cloud(home.cloud(plan.environment), home.root, region)
    seed_account(cloud, home.account(plan.environment))
    _settle_servers(cloud, home.configuration(plan.environment))
    engine = home.open_stack(plan.environment)
    if plan.put is not None:
        put_file(cloud, engine, plan.environment, plan.put)
    return engine


def _settle_servers(cloud: Cloud, configuration: Path) -> None:
    """Servers of an on-prem cluster are nodes at once, those that join a cloud's cluster when they have joined."""
    joined = cloud.store.fact(JOINED)
    if joins_servers(configuration):
        cloud.store.remember(JOINED, joined or "{}")
    elif joined and is_onprem_cluster(configuration):
        cloud.store.remember(JOINED, "")


def put_file(cloud: Cloud, engine: PulumiCli, environment: str, file: Path) -> None:
    """Write a file into the environment's simulated file system, as a job on a node would.

    Errors: WorkspaceError when the environment has no file system yet, or the file cannot be read.
    """
    file_system = next((r for r in engine.state(environment) if r["type"] == FILE_SYSTEM), None)
    held = cloud.store.get(FILE_SYSTEM, file_system["id"]) if file_system else None
    if held is None:
        raise WorkspaceError(
            f"{environment}: no file system to write to yet; bring it up first: gpufleet rehearse {environment}"
        )
    try:
        cloud.store.put_file(held, file.name, file.read_bytes(), cloud.clock.now())
    except OSError as error:
        raise WorkspaceError(f"{file}: {error.strerror}") from error


def rehearse(home: Workspace, plan: RehearsalPlan, console: Console, output: IO[str] | None = None) -> int:
    """Carry out the plan. Exit code: 1 if the engine fails, or if a destroy leaves behind more than was to be kept.

    output: where the engine writes its output; None: the terminal.
    """
    engine = replace(prepare(home, plan), output=output)
    own = is_onprem_cluster(home.configuration(plan.environment))
    where = "cluster" if own else "cloud"
    account = "the cluster's servers are not" if own else f"{ACCOUNTS[home.cloud(plan.environment)]} is not"
    console.print(
        f"[bold]Rehearsal of {plan.environment} on a SIMULATED {where}[/]: engine and program are real, {account}. "
        "Nothing is made anywhere else, nothing costs money."
    )
    run = _destroy if plan.destroy else _up
    code = run(home, engine, plan, console)
    if code != 0:
        console.print(
            f"{plan.environment}: the engine exited with {code}; the rehearsal is in {home.root}", soft_wrap=True
        )
    return min(code, 1)


def run_inside(home: Workspace, environment: str, command: Sequence[str]) -> int:
    """Run a command (the user's shell when empty) in which plain `pulumi` talks to the rehearsal.

    environment: the stack that `pulumi` takes when none is named; the services that its jobs use are played while the
    command runs. Exit code: the command's own.
    """
    variables = home.environment() | {"PULUMI_STACK": environment}
    variables["PATH"] = os.pathsep.join([str(home.launcher), variables["PATH"]])
    command = command or [os.environ.get("SHELL", "/bin/sh")]
    with azure_services(home, environment) as azure, aws_services(home, environment) as aws:
        try:
            code = run_until_exit(command, variables | azure | aws)
        except OSError as error:
            raise WorkspaceError(f"{command[0]}: {error.strerror}") from error
    # A short `up` ends the provider that follows the node groups before it has followed the last change.
    home.control_plane.follow_fleet()
    return code


def _up(home: Workspace, engine: PulumiCli, plan: RehearsalPlan, console: Console) -> int:
    code = engine.up(plan.environment, *_mending(home, engine, plan.environment))
    cloud = open_cloud(home.cloud(plan.environment), home.root)
    if code != 0:
        if any(is_down(cloud.store, cluster) for cluster in cloud.store.resources(CLUSTERS[0])):
            console.print(
                "the line to the site is down: `gpufleet link` lists what its router needs; in a rehearsal, write "
                f"router_configured: true in {home.account(plan.environment)}",
                soft_wrap=True,
            )
        return code
    state = engine.state(plan.environment)
    outputs = engine.outputs(plan.environment)
    code = _join(cloud, engine, plan.environment, console) if OWN_SERVERS in outputs else 0
    home.control_plane.follow_fleet()
    console.print(tree(plan.environment, state))
    for name, value in outputs.items():
        console.print(f"  [bold]{escape(name)}[/]: {escape(str(value))}", soft_wrap=True)
    for resource in cloud.store.resources(FILE_SYSTEM):
        for path, content in cloud.store.files(resource).items():
            console.print(f"  [bold]file in {resource.id}[/]: {escape(path)}, {len(content)} bytes", soft_wrap=True)
    if home.control_plane.access(start=False) is not None:
        console.print(f"  [bold]control plane[/]: export KUBECONFIG={home.control_plane.kubeconfig}", soft_wrap=True)
    if not is_onprem_cluster(home.configuration(plan.environment)):
        report_time(cloud, state, console)
    console.print(
        f"\nNext: [bold]gpufleet rehearse {plan.environment} --shell[/] for a shell with plain pulumi, "
        f"[bold]gpufleet rehearse {plan.environment} --destroy[/] to end it."
    )
    return code


def _join(cloud: Cloud, engine: PulumiCli, environment: str, console: Console) -> int:
    """Join the on-prem servers that have not joined yet; 1 if one of them cannot."""
    own = onprem_servers_of(engine.outputs(environment, secrets=True), environment)
    if own is None:
        return 0
    from gpufleet_rehearsal.kubernetes.hybrid_join import join

    done = join(cloud, own)
    for line in done.joined:
        console.print(
            f"  [bold]on-prem server[/] {escape(line)} (simulated: the join script was evaluated, not run)",
            soft_wrap=True,
        )
    for line in done.refused:
        console.print(f"  [bold red]on-prem server not joined[/] {escape(line)}", soft_wrap=True)
    return 1 if done.refused else 0


def _mending(home: Workspace, engine: PulumiCli, environment: str) -> list[str]:
    """What `up` needs when the control plane ended, by a restart of the machine: all that was on it is gone then."""
    if not home.control_plane.kubeconfig.exists() or home.control_plane.access(start=False) is not None:
        return []
    on_it = any(str(resource["type"]).startswith("kubernetes:") for resource in engine.state(environment))
    return ["--refresh"] if on_it else []


def report_time(cloud: Cloud, state: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print how long a first `up` would take on the real cloud, and its critical path."""
    time = time_to_up(cloud, state)
    console.print(
        "\nEstimated time of a first `pulumi up` on the real cloud: "
        f"[bold]{format_minutes(time.estimate.seconds)}[/]; lower bound: {format_minutes(time.lower_bound.seconds)} "
        f"(ratio {time.ratio:.3f}). Based on published durations, see docs/latencies.md.",
        soft_wrap=True,
    )
    console.print(f"  critical path: {escape(format_path(time.estimate.steps))}", soft_wrap=True)


def tree(environment: str, state: Sequence[Mapping[str, Any]]) -> Tree:
    """The resources of a stack as a tree of components, each with its resources by type."""
    children: dict[str | None, list[Mapping[str, Any]]] = defaultdict(list)
    for resource in state:
        if not resource["type"].startswith("pulumi:providers:"):
            children[resource.get("parent")].append(resource)
    stack = next(resource for resource in state if resource["type"] == "pulumi:pulumi:Stack")
    made = sum(1 for resource in state if resource.get("custom") and not resource["type"].startswith("pulumi:"))
    top = Tree(f"[bold]{environment}[/] ({made} simulated resources)")

    def grow(branch: Tree, parent: str) -> None:
        plain: dict[str, list[str]] = defaultdict(list)
        for resource in sorted(children[parent], key=lambda child: str(child["urn"])):
            name = logical_name(resource["urn"])
            kind = str(resource["type"]).split(":")[-1]
            if children[resource["urn"]] or not resource.get("custom"):
                grow(branch.add(f"[bold]{escape(name)}[/] {kind}"), resource["urn"])
            else:
                plain[kind].append(f"{name} [protected]" if resource.get("protect") else name)
        for kind, members in sorted(plain.items()):
            branch.add(f"{kind}: {escape(', '.join(members))}")

    grow(top, stack["urn"])
    return top


def _destroy(home: Workspace, engine: PulumiCli, plan: RehearsalPlan, console: Console) -> int:
    code = engine.destroy(plan.environment, "--exclude-protected")
    cloud = open_cloud(home.cloud(plan.environment), home.root)
    if code != 0:
        _, left = remains(cloud, plan.environment, engine.state(plan.environment))
        for resource in left:
            console.print(
                f"  [bold red]in no stack's state[/]: {resource.name} ({resource.type} {resource.id})", soft_wrap=True
            )
        return code
    if joins_servers(home.configuration(plan.environment)):
        # The cluster that they were in is gone.
        cloud.store.remember(JOINED, "{}")
    state = engine.state(plan.environment)
    kept, left = remains(cloud, plan.environment, state)
    for resource in kept:
        files = cloud.store.files(resource)
        lies = f", with {', '.join(sorted(files))}" if files else ""
        console.print(f"  kept, as the configuration says: {resource.name} ({resource.id}){lies}", soft_wrap=True)
    for resource in left:
        console.print(f"  [bold red]left behind[/]: {resource.name} ({resource.type} {resource.id})", soft_wrap=True)
    if not any(cloud.store.resources(cluster) for cluster in CLUSTERS):
        # A cluster takes its control plane along.
        home.control_plane.stop()
    if left:
        return 1
    console.print("Nothing else is left in the simulated cloud." if kept else "Nothing is left in the simulated cloud.")
    if not kept and not plan.keep:
        engine.output_of("stack", "rm", plan.environment, "--yes")
    return 0


def remains(
    cloud: Cloud, environment: str, state: Sequence[Mapping[str, Any]]
) -> tuple[list[SimulatedResource], list[SimulatedResource]]:
    """What the simulated cloud still contains: resources in the state, and resources that no state has.

    Leaked resources that the cloud created by itself count as left behind; those of other environments do not.
    """
    known = {(resource["type"], resource.get("id")) for resource in state}
    kept: list[SimulatedResource] = []
    left: list[SimulatedResource] = []
    for resource in cloud.store.resources():
        if resource.owner is not None or f":{environment}::" not in resource.urn:
            continue
        (kept if (resource.type, resource.id) in known else left).append(resource)
    return kept, left
