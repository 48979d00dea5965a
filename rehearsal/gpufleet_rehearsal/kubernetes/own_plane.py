"""The rehearsal's own control plane: what a simulated cluster's kubeconfig leads to.

It is built and run by tools/kubernetes of this repository. Where those are missing (an installed package), or were not
built, there is none, and objects are only checked and recorded.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gpufleet_rehearsal.kubernetes.kubeconfig import Access, read_kubeconfig

if TYPE_CHECKING:
    from control_plane import ControlPlane

TOOLS = Path(__file__).resolve().parents[3] / "tools" / "kubernetes"
FOLDER = "kubernetes"
"""Its directory inside of the rehearsal's."""


class OwnPlane:
    """The control plane of the rehearsal in `directory`."""

    def __init__(self, directory: Path) -> None:
        self._home = directory / FOLDER
        self.why_not = ""
        """Why there is none, when `access` could start none."""

    def access(self, *, start: bool) -> Access | None:
        """The way to it; None when it does not run. start: bring it up first, about five seconds."""
        if not (self._home / "kubeconfig").exists() and not start:
            return None
        plane = self._plane()
        if plane is None:
            return None
        if not plane.running:
            if not start:
                return None
            failed = importlib.import_module("control_plane").ControlPlaneFailed
            try:
                plane.start()
            except failed as error:
                self.why_not = str(error)
                return None
        return read_kubeconfig(str(plane.kubeconfig))

    def _plane(self) -> ControlPlane | None:
        if not (TOOLS / "control_plane.py").exists():
            self.why_not = "no control plane (it comes with gpufleet's repository, not with the package)"
            return None
        if str(TOOLS) not in sys.path:
            sys.path.append(str(TOOLS))
        programs = importlib.import_module("programs").programs()
        missing = [name for name, program in programs.items() if not program.built]
        if missing:
            self.why_not = f"no control plane ({', '.join(missing)} not built; `make kubernetes` builds them)"
            return None
        plane: ControlPlane = importlib.import_module("control_plane").ControlPlane(self._home)
        return plane
