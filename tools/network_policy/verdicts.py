"""What other programs say of flows under NetworkPolicies: cyclonus for Kubernetes' meaning, and Cilium's policy engine.

`python -m tools.network_policy.verdicts` builds the program once into the user's cache, with Go alone: its source is in
verdicts/, and its go.mod pins both.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.cache_entry import cache_directory, make_once
from tools.go_build import BuildFailed, build, go_version
from tools.progress import Say, teller

MODULE = Path(__file__).resolve().parent / "verdicts"
NAME = "verdicts"


class VerdictsMissing(Exception):
    """The program is not there, or rejects its input; the text says why and what to do."""


@dataclass(frozen=True)
class Peer:
    """One end of a flow. A pod has a namespace; anything else is an address.

    entities: what Cilium knows the address as: host, remote-node, kube-apiserver
    (docs.cilium.io/en/stable/security/policy/language/#entities-based).
    """

    namespace: str = ""
    address: str = "192.0.2.1"
    labels: Mapping[str, str] | None = None
    entities: Sequence[str] = ()


@dataclass(frozen=True)
class Flow:
    """A connection between two peers, by name."""

    source: str
    target: str
    port: int
    protocol: str = "TCP"


@dataclass(frozen=True)
class Verdict:
    """Whether the flow passes, as Kubernetes specifies it and as Cilium enforces it."""

    kubernetes: bool
    cilium: bool


def verdicts(policies: Sequence[Mapping[str, Any]], peers: Mapping[str, Peer], flows: Sequence[Flow]) -> list[Verdict]:
    """The verdict on each flow, in order. Raises VerdictsMissing where the program is not built."""
    program = executable()
    if not program.exists():
        raise VerdictsMissing(f"{program}: not there; run `make network-policy`, which builds it")
    asked = {
        "policies": policies,
        "peers": {
            name: {
                "namespace": each.namespace,
                "address": each.address,
                "labels": dict(each.labels or {}),
                "entities": list(each.entities),
            }
            for name, each in peers.items()
        },
        "flows": [
            {"from": each.source, "to": each.target, "protocol": each.protocol, "port": each.port} for each in flows
        ],
    }
    done = subprocess.run([program], input=json.dumps(asked), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise VerdictsMissing(f"{program.name}: {done.stderr.strip()}")
    return [Verdict(**each) for each in json.loads(done.stdout)]


def executable() -> Path:
    """Where the program lies in the cache: another source or other pins, another entry."""
    recipe = b"".join((MODULE / name).read_bytes() for name in ("main.go", "go.mod", "go.sum"))
    return cache_directory("network-policy", f"{NAME}-{hashlib.sha256(recipe).hexdigest()[:8]}") / NAME


def build_program(say: Say) -> Path:
    """Build the program unless the cache has it; returns its path. Raises VerdictsMissing."""
    target = executable()

    def make(folder: Path) -> None:
        build(MODULE, ".", folder / NAME, say, doing="network policies: building verdicts")

    try:
        make_once(target.parent, NAME, make, "network policies: another set-up is building; waiting for it", say)
    except BuildFailed as problem:
        raise VerdictsMissing(
            f"{NAME}: {problem}. Install Go >= {go_version(MODULE)} (https://go.dev/dl/) and check that it reaches a "
            "module proxy, then run `make network-policy` again"
        ) from None
    return target


def main() -> int:
    """Exit code 0 when the program is there, 1 with one line on standard error when it cannot be built."""
    say = teller()
    try:
        say(f"network policies: {build_program(say)}")
    except VerdictsMissing as problem:
        print(f"network policies: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("network policies: interrupted; run it again to continue", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
