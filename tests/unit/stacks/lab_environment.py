"""The program of an environment `lab` on an own cluster."""

import json

from tests.unit.stacks.stack_programs import Program

KUBECONFIG = json.dumps(
    {
        "clusters": [{"name": "lab", "cluster": {"server": "https://10.0.0.2:6443"}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
        "current-context": "lab",
        "users": [{"name": "admin", "user": {"token": "t"}}],
    }
)
V100 = {"gpu": "V100", "gpus": 4, "nodes": ["gpu-1", "gpu-2"]}
RENTED = {"gpu": "V100", "gpus": 8, "nodes": ["rented-1"], "place": "cloud"}
CONFIG = {
    "gpufleet:cloud": "onprem",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    # The engine hands an object on as JSON; a kubeconfig in YAML does not look like one.
    "gpufleet:kubeconfig": f"# lab\n{KUBECONFIG}",
    "gpufleet:nfs": "10.0.0.5:/export/shared",
    "gpufleet:pools": {"v100": V100, "rented": RENTED},
}
program = Program("lab", CONFIG)
