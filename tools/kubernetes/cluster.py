"""A Kubernetes control plane on this machine, from the command line.

python -m tools.kubernetes.cluster up      build what is missing, start, install the MPI operator, add nodes
python -m tools.kubernetes.cluster down    end it, whoever started it; no process and no port stays
python -m tools.kubernetes.cluster status  its processes, and whether it is ready
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from tools.kubernetes.api_client import ApiRefused, ApiSilent, wait_until
from tools.kubernetes.build import build_all
from tools.kubernetes.control_plane import ControlPlane, ControlPlaneFailed
from tools.kubernetes.nodes import Nodes, UnknownNode, read_nodes
from tools.kubernetes.programs import ProgramMissing, programs
from tools.progress import Say, teller

HOME = Path(__file__).resolve().parent.parent.parent / ".rehearsal" / "kubernetes"
NODES_READY_SECONDS = 120.0


def up(plane: ControlPlane, nodes: Path | None, operator: bool, kueue: bool, say: Say) -> None:
    """Start, and add what is asked for. Raises what its parts raise."""
    rows = read_nodes(nodes) if nodes else []
    build_all(say)
    began = time.monotonic()
    plane.start()
    say(f"cluster: ready after {time.monotonic() - began:.1f} s")
    if operator:
        plane.install_mpi_operator()
    if kueue:
        plane.install_kueue()
    table = Nodes(plane.client)
    for row in rows:
        began = time.monotonic()
        add_nodes(table, row)
        say(f"cluster: {row['count']} nodes {row['type']} of {row['pool']} after {time.monotonic() - began:.1f} s")
    say(f"cluster: try `{programs()['kubectl'].executable} --kubeconfig={plane.kubeconfig} get nodes`")


def add_nodes(table: Nodes, row: dict[str, Any]) -> None:
    """Bring a pool to the number of a row of the file, and wait until its nodes are ready."""
    count, pool = row["count"], row["pool"]
    missing = count - len(table.of_pool(pool))
    if missing > 0:
        table.add(**{**row, "count": missing})
    wait_until(f"the nodes of {pool} are ready", lambda: table.ready(pool) >= count, NODES_READY_SECONDS)


def main() -> int:
    """Exit code 0 when it is as asked, 1 with one line on standard error when not; `status`: 3 where none is ready."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("up", "down", "status"))
    parser.add_argument("--home", type=Path, default=HOME, help="directory of its own (default: .rehearsal/kubernetes)")
    parser.add_argument("--nodes", type=Path, help="up: YAML list of count, type, zone, pool and more, see nodes.py")
    parser.add_argument("--no-operator", action="store_true", help="up: without the MPI operator")
    parser.add_argument("--kueue", action="store_true", help="up: with Kueue, too")
    words = parser.parse_args()
    say = teller()
    plane = ControlPlane(words.home, say)
    try:
        if words.action == "up":
            up(plane, words.nodes, not words.no_operator, words.kueue, say)
        elif words.action == "down":
            ended = plane.stop()
            say(f"cluster: ended {', '.join(ended)}" if ended else "cluster: nothing ran")
        else:
            for name, state in plane.status().items():
                print(f"{name}: {state}")
            print("ready" if plane.running else "not ready")
            return 0 if plane.running else 3
    except (ApiRefused, ApiSilent, ControlPlaneFailed, ProgramMissing, UnknownNode) as problem:
        print(f"cluster: {problem}", file=sys.stderr)
        return 1
    except OSError as failure:
        print(f"cluster: {failure.filename}: {failure.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cluster: interrupted; `make cluster-down` ends what was started", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
