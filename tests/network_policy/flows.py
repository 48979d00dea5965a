"""The flows of each shipped environment, and which of them pass under the data plane that its stack configures.

`python -m tests.network_policy.flows` prints them as a table.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from gpufleet.jobs.kubernetes.submission import build_submission
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import read_settings
from tests.components.recorder import Recording
from tests.unit.stacks.azure_stack import ANSWERS, COMPUTED
from tests.unit.stacks.lab_environment import KUBECONFIG
from tests.unit.stacks.stack_programs import STACKS, Program
from tools.network_policy.verdicts import Flow, Peer, Verdict, VerdictsMissing, verdicts

ENVIRONMENTS = ("aws-dev", "aws-prod", "azure-dev", "azure-prod", "hybrid", "onprem")
"""azure-prod has no cluster: its jobs run on Azure Batch, whose nodes know no network policies."""
TEAM, OTHER = "training", "other-team"
METADATA = "169.254.169.254"
API_SERVER = {
    # Addresses of the control plane, which has no nodes in the cluster.
    "aws": Peer(address="10.0.3.7", entities=["kube-apiserver"]),
    "azure": Peer(address="20.1.2.3", entities=["kube-apiserver"]),
    # A node of the cluster, as kubeadm makes it.
    "onprem": Peer(address="10.0.0.2", entities=["remote-node", "kube-apiserver"]),
}
PEERS = {
    "launcher": Peer(TEAM, "10.244.0.10", {"training.kubeflow.org/job-role": "launcher"}),
    "worker": Peer(TEAM, "10.244.1.11", {"training.kubeflow.org/job-role": "worker"}),
    "worker 2": Peer(TEAM, "10.244.2.12", {"training.kubeflow.org/job-role": "worker"}),
    "other team": Peer(OTHER, "10.244.3.13", {"training.kubeflow.org/job-role": "worker"}),
    "DNS": Peer("kube-system", "10.244.4.14", {"k8s-app": "kube-dns"}),
    "DNS on node": Peer(address="169.254.20.10", entities=["host"]),
    "NFS": Peer(address="10.0.9.9"),
    "registry": Peer(address="52.1.2.3"),
    "object storage": Peer(address="52.4.5.6"),
    "metadata": Peer(address=METADATA),
    "internet": Peer(address="203.0.113.5"),
}
NEEDED = (
    Flow("launcher", "DNS", 53, "UDP"),
    Flow("launcher", "DNS on node", 53, "UDP"),
    Flow("launcher", "worker", 22),
    Flow("worker", "worker 2", 41234),
    Flow("worker", "NFS", 2049),
    Flow("worker", "registry", 443),
    Flow("worker", "object storage", 443),
    Flow("launcher", "API server", 443),
    Flow("launcher", "API server", 6443),
)
FORBIDDEN = (
    Flow("worker", "metadata", 80),
    Flow("other team", "worker", 22),
    Flow("other team", "worker", 41234),
    Flow("worker", "other team", 41234),
    Flow("internet", "worker", 22),
)


@dataclass(frozen=True)
class DataPlane:
    """Who enforces network policies. hop_limit: of the metadata service's answers, in hops; None where it has none."""

    name: str
    hop_limit: int | None = None

    def passes(self, flow: Flow, verdict: Verdict) -> bool:
        """Whether a flow passes. A pod with an address of its own is the second hop from the metadata service."""
        if flow.target == "metadata" and self.hop_limit == 1:
            return False
        if self.name == "no policies":
            return True
        return verdict.cilium if self.name == "Cilium" else verdict.kubernetes


def stack(environment: str) -> Recording[dict[str, Any]]:
    """What the environment's stack registers, by its shipped configuration."""
    config = yaml.safe_load((STACKS / "config" / f"Pulumi.{environment}.yaml").read_text())["config"]
    given = {key: str(value) if key.endswith("expires_at") else value for key, value in config.items()}
    if "gpufleet:phase" in given:
        given["gpufleet:phase"] = "cluster"
    if config["gpufleet:cloud"] == "onprem":
        given["gpufleet:kubeconfig"] = f"# lab\n{KUBECONFIG}"
    azure = config["gpufleet:cloud"] == "azure"
    return Program(environment, given, COMPUTED if azure else {}, ANSWERS if azure else {})()


def team_policies(made: Recording[dict[str, Any]]) -> list[dict[str, Any]]:
    """The network policies of the stack's team."""
    return [dict(each.inputs) for each in made.resources if each.type.endswith(":NetworkPolicy")]


def data_planes(environment: str, made: Recording[dict[str, Any]]) -> list[DataPlane]:
    """Every data plane of the environment's cluster: that of cloud nodes, then that of own servers."""
    if cloud_of(environment) == "onprem":
        # Nobody tells what an own cluster has: the policies have to work on either.
        return [DataPlane("Kubernetes"), DataPlane("Cilium")]
    planes: list[DataPlane] = []
    for each in made.of("aws:eks/addon:Addon"):
        if each.inputs["addonName"] == "vpc-cni":
            settings = json.loads(each.inputs.get("configurationValues", "{}"))
            enforced = settings.get("enableNetworkPolicy") == "true"
            planes.append(DataPlane("VPC CNI" if enforced else "no policies", _hop_limit(made)))
    for each in made.of("azure-native:containerservice:ManagedCluster"):
        assert each.inputs["networkProfile"]["networkDataplane"] == "cilium"
        planes.append(DataPlane("Cilium"))
    if any("cilium" in str(each.inputs.get("chart")) for each in made.of("kubernetes:helm.sh/v3:Release")):
        planes.append(DataPlane("Cilium"))
    return planes


def _hop_limit(made: Recording[dict[str, Any]]) -> int:
    """The highest of all launch templates; EC2's default for a template that has none is 1, and EKS's is 2."""
    templates = made.of("aws:ec2/launchTemplate:LaunchTemplate")
    return max(int(each.inputs.get("metadataOptions", {}).get("httpPutResponseHopLimit", 2)) for each in templates)


def launcher_beside_workers(environment: str, made: Recording[dict[str, Any]]) -> bool:
    """Whether the launcher of a job that may run in any place is on the side of its workers."""
    request: JobRequest = {"workers": 2, "gpus": 1, "place": "any", "image": "training:1", "command": ["true"]}
    launcher = build_submission(read_settings(made.result, environment), request).manifest["spec"]["mpiReplicaSpecs"][
        "Launcher"
    ]["template"]["spec"]
    terms = launcher["affinity"].get("podAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
    return [term["topologyKey"] for term in terms] == ["gpufleet.dev/place"]


def judged(
    cloud: str,
    plane: DataPlane,
    policies: Sequence[Mapping[str, Any]],
    flows: Sequence[Flow],
    *,
    one_side: bool = True,
) -> dict[Flow, bool]:
    """Which flows pass, where another team has the same policies.

    one_side: whether the launcher is where this data plane is; to Cilium, a pod of another one is an address.
    """
    others = [{**each, "metadata": {**each["metadata"], "namespace": OTHER}} for each in policies]
    peers = PEERS | {"API server": API_SERVER[cloud]} | ({} if one_side else {"launcher": Peer(address="10.0.5.5")})
    found = verdicts([*policies, *others], peers, flows)
    return {flow: plane.passes(flow, verdict) for flow, verdict in zip(flows, found, strict=True)}


def table() -> str:
    """Every flow of every environment in Markdown, and whether it is as it should be."""
    lines = ["| environment | data plane | flow | needed | passes |", "|---|---|---|---|---|"]
    for environment in ENVIRONMENTS:
        made = stack(environment)
        for plane in data_planes(environment, made):
            together = len(data_planes(environment, made)) == 1 or cloud_of(environment) == "onprem"
            one_side = together or launcher_beside_workers(environment, made)
            policies = team_policies(made)
            found = judged(cloud_of(environment), plane, policies, (*NEEDED, *FORBIDDEN), one_side=one_side)
            for flow, passes in found.items():
                told = f"{flow.source} to {flow.target}, {flow.protocol} {flow.port}"
                needed = flow in NEEDED
                lines.append(
                    f"| {environment} | {plane.name} | {told} | {_word(needed)} | {_word(passes)}"
                    f"{'' if needed == passes else ', WRONG'} |"
                )
    return "\n".join(lines)


def cloud_of(environment: str) -> str:
    """aws, azure or onprem: where the control plane is."""
    return "aws" if environment == "hybrid" else environment.partition("-")[0]


def _word(value: bool) -> str:
    return "yes" if value else "no"


def main() -> int:
    """Exit code 0, or 1 with one line where the program that judges is not built."""
    try:
        print(table())
    except VerdictsMissing as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
