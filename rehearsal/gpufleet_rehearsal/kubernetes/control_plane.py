"""The rehearsal's own control plane: what a simulated cluster's kubeconfig leads to.

It is built and run by tools/kubernetes of this repository. Where those are missing (an installed package), or were not
built, there is none, and objects are only checked and recorded.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.settings import load_settings
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes import autoscaling, fake_nodes, onprem_servers, plugin_charts
from gpufleet_rehearsal.kubernetes.kubeconfig import Access, read_kubeconfig
from gpufleet_rehearsal.kubernetes.load_balancers import LoadBalancers
from gpufleet_rehearsal.kubernetes.recorded_objects import FILE as NOTES
from gpufleet_rehearsal.kubernetes.service_table import ControlPlaneServices
from gpufleet_rehearsal.kubernetes.site_line import down
from gpufleet_rehearsal.table.paths import Json

if TYPE_CHECKING:
    from tools.kubernetes.control_plane import ControlPlane

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDER = "kubernetes"
"""Its directory inside of the rehearsal's."""
CHARTS: Mapping[str, Callable[[ControlPlane], None]] = {
    "jobset": lambda plane: plane.install_jobset(),
    "kueue": lambda plane: plane.install_kueue(),
}
"""The last word of a chart's address, which is also its program's name, to what installs that."""
SERVICES_SECONDS = 0.2
"""Real ones at least between two looks at the Services: where nothing waits, the nodes are looked at more often."""


class RehearsalControlPlane:
    """The control plane of the rehearsal in `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._home = directory, directory / FOLDER
        self._store: Store | None = None
        self._balancers: LoadBalancers | None = None
        self._looked = -SERVICES_SECONDS
        self.why_not = ""
        """Why there is none, when it could not be had."""

    @property
    def kubeconfig(self) -> Path:
        """The administrator's, once it runs."""
        return self._home / "kubeconfig"

    def access(self, *, start: bool) -> Access | None:
        """The way to it; None when it does not run. start: bring it up first, about five seconds."""
        plane = self._plane() if start or self.kubeconfig.exists() else None
        if plane is None:
            return None
        if not plane.running:
            self._forget_balancers()
            if not start:
                return None
            failed = importlib.import_module("tools.kubernetes.control_plane").ControlPlaneFailed
            try:
                # Its nodes are those of the simulated cloud's node groups, and servers; nobody adds others.
                plane.start(system_nodes=0)
            except failed as error:
                self.why_not = str(error)
                return None
            # On-prem servers are there before anybody labels them.
            self._follow_servers(plane)
        return read_kubeconfig(str(plane.kubeconfig))

    def _follow_servers(self, plane: ControlPlane) -> list[str]:
        """Errors: UserError."""
        store = self._opened()
        if store is None:
            return []
        errors, nodes = (
            importlib.import_module("tools.kubernetes.api_client"),
            importlib.import_module("tools.kubernetes.nodes"),
        )
        try:
            return onprem_servers.follow(store, cast("onprem_servers.ServerTable", nodes.Nodes(plane.client)))
        except (errors.ApiSilent, errors.ApiRefused) as error:
            raise UserError(f"on-prem servers: {error}") from error

    def play(self, release: Mapping[str, Json]) -> str:
        """Start the program of a chart, if it is one of CHARTS; what was done, empty for any other. It must run.

        Errors: UserError.
        """
        plane = self._plane()
        chart = str(release.get("chart")).rpartition("/")[2]
        if plane is None or chart not in CHARTS:
            return ""
        errors, ended = (
            importlib.import_module("tools.kubernetes.api_client"),
            importlib.import_module("tools.kubernetes.processes").ProcessEnded,
        )
        try:
            CHARTS[chart](plane)
        except (errors.ApiSilent, errors.ApiRefused, ended) as error:
            raise UserError(f"{chart}: {error}") from error
        version = importlib.import_module("tools.kubernetes.programs").programs()[chart].version
        return f"the real controller of {chart} {version} runs"

    def instead_of(self, kubeconfig: object, environment: str) -> object:
        """The administrator's kubeconfig in the place of a simulated cluster's; any other as it is.

        Errors: UserError when it does not run, UnusableKubeconfig for what is none.
        """
        if not _access_of(kubeconfig).simulated:
            return kubeconfig
        if problem := self.line_problem(kubeconfig):
            raise UserError(f"{environment}: {problem}")
        if self.access(start=False) is None:
            raise UserError(
                f"{environment}: its simulated cluster leads to no control plane: "
                f"{self.why_not or 'it does not run'}; `gpufleet rehearse {environment}` brings it up"
            )
        return self.kubeconfig.read_text(encoding="utf-8")

    def line_problem(self, kubeconfig: object) -> str:
        """Why nothing leads to a simulated cluster; empty where something does. Errors: UnusableKubeconfig."""
        return down(self._directory, _access_of(kubeconfig).server)

    def stop(self) -> list[str]:
        """End it; the names of its processes that ran. Errors: UserError where one does not end."""
        plane = self._plane() if self._home.exists() else None
        if plane is None:
            return []
        try:
            return plane.stop()
        except importlib.import_module("tools.kubernetes.control_plane").ControlPlaneFailed as error:
            raise UserError(str(error)) from error

    def follow_fleet(self) -> list[str]:
        """Make and take away fake nodes as the simulated cloud's node groups say, run device plugins and a simulated
        autoscaler where the program has installed them by charts, and look after the Services' load balancers; what was
        done, a line each.

        Nothing where it does not run. Errors: UserError.
        """
        store = self._opened()
        plane = self._plane() if self.kubeconfig.exists() and store is not None else None
        if plane is None or store is None:
            return []
        errors, ended = (
            importlib.import_module("tools.kubernetes.api_client"),
            importlib.import_module("tools.kubernetes.processes").ProcessEnded,
        )
        nodes = importlib.import_module("tools.kubernetes.nodes")
        try:
            done = self._follow_servers(plane)
            done += fake_nodes.follow(store, self._home, cast("fake_nodes.NodeTable", nodes.Nodes(plane.client)))
            done += plugin_charts.follow(self._notes, plane.client)
            scale = load_settings(self._directory / "rehearsal.json").latency_scale
            done.append(autoscaling.follow(store, self._notes, self._home, scale, plane))
            if self._balancers is not None and time.monotonic() - self._looked >= SERVICES_SECONDS:
                done += self._balancers.follow(ControlPlaneServices(plane.client, errors.ApiRefused))
                self._looked = time.monotonic()
            return [line for line in done if line]
        except (errors.ApiSilent, errors.ApiRefused, nodes.UnknownNode, ended) as error:
            raise UserError(f"fake GPU nodes and load balancers: {error}") from error

    @cached_property
    def _notes(self) -> Store:
        """What the rehearsal has noted down; kept open, as it is asked once a second."""
        return Store(self._directory / NOTES)

    def _opened(self) -> Store | None:
        """The simulated cloud, with what looks after its load balancers; None before there is one."""
        # Brings along the whole simulated cloud, which the provider of Kubernetes needs for nothing else.
        from gpufleet_rehearsal.cloud.open_cloud import timeline

        database = self._directory / "cloud.db"
        if self._store is None and database.exists():
            self._store = Store(database)
            clock = timeline(self._store, load_settings(self._directory / "rehearsal.json"))
            self._balancers = LoadBalancers(self._store, clock)
        return self._store

    def _forget_balancers(self) -> None:
        """Those of Services that were lost with the control plane."""
        self._opened()
        if self._balancers is not None:
            self._balancers.forget()

    def _plane(self) -> ControlPlane | None:
        if not load_settings(self._directory / "rehearsal.json").control_plane:
            self.why_not = "the rehearsal runs with --no-control-plane"
            return None
        if not (REPOSITORY / "tools" / "kubernetes" / "control_plane.py").exists():
            self.why_not = "no control plane (it comes with gpufleet's repository, not with the package)"
            return None
        if str(REPOSITORY) not in sys.path:
            sys.path.append(str(REPOSITORY))
        programs = importlib.import_module("tools.kubernetes.programs").programs()
        missing = [name for name, program in programs.items() if not program.built]
        if missing:
            self.why_not = f"no control plane ({', '.join(missing)} not built; `make kubernetes` builds them)"
            return None
        plane: ControlPlane = importlib.import_module("tools.kubernetes.control_plane").ControlPlane(self._home)
        return plane


def _access_of(kubeconfig: object) -> Access:
    return read_kubeconfig(kubeconfig if isinstance(kubeconfig, str) else json.dumps(kubeconfig))
