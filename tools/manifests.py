"""The MPI operator's manifest, put where `gpufleet.kubernetes.remote_manifest` keeps what it has fetched.

Without it the first preview fetches it from GitHub; with it previews and tests need no network. It is a file of the
operator's Go module, which Go gets by the user's own proxy settings and checks against the committed go.sum.
"""

import hashlib
import json
import os
from pathlib import Path

from tools.cache_entry import cache_directory
from tools.go_build import BuildFailed, source
from tools.progress import Say

ROOT = Path(__file__).resolve().parent.parent
MODULE = ROOT / "tools" / "kubernetes" / "mpi-operator"
PATH = "github.com/kubeflow/mpi-operator"
FILE = "deploy/v2beta1/mpi-operator.yaml"
KNOWN = ROOT / "components" / "gpufleet" / "kubernetes" / "mpi_operator_manifests.json"


def keep_manifest(say: Say) -> None:
    """Put the manifest there, unless it is; where Go does not get it, say so and leave it to the first preview."""
    checksums = {record["sha256"] for record in json.loads(KNOWN.read_text(encoding="utf-8")).values()}
    if all((cache_directory("manifests") / f"{checksum}.yaml").exists() for checksum in checksums):
        return
    say("manifest of the MPI operator: from its Go module")
    try:
        content = (source(MODULE, PATH) / FILE).read_bytes()
    except (BuildFailed, OSError) as failure:
        say(f"manifest of the MPI operator: {failure}; the first preview will fetch it from GitHub")
        return
    checksum = hashlib.sha256(content).hexdigest()
    if checksum not in checksums:
        say(f"manifest of the MPI operator: {MODULE / 'go.mod'} names a version that {KNOWN.name} does not know")
        return
    target = cache_directory("manifests") / f"{checksum}.yaml"
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(content)
    fresh.replace(target)
