"""Team: a namespace in which a team trains, closed to others, with what its pods need to pull images."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.kubernetes.pull_secret import registry_login
from gpufleet.kubernetes.team_role import plan_team_role
from gpufleet.kubernetes.uid_admission_policy import plan_uid_admission_policy
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.team import validate_team
from gpufleet.typed_dicts import Encrypted

PodSecurity = Literal["restricted", "baseline", "privileged"]

METADATA_ADDRESS = "169.254.169.254/32"
"""Where AWS and Azure hand out a node's identity. Pod identities are elsewhere: 169.254.170.23 on EKS."""
NODE_PORTS = [
    {"protocol": "UDP", "port": 53},
    {"protocol": "TCP", "port": 53},
    {"protocol": "TCP", "port": 443},
    {"protocol": "TCP", "port": 6443},
]
"""What nodes may serve to pods: DNS where its cache is on each node, and the API server.

Source: https://kubernetes.io/docs/reference/networking/ports-and-protocols/ (6443), and
https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/
"""


class UserArgs(TypedDict):
    """A user's numbers on the shared files."""

    uid: int
    """User of their processes and files."""
    gid: int
    """Their own group."""


class TeamConfig(TypedDict):
    """Who works in a namespace, and what its pods may do."""

    groups: NotRequired[Sequence[str]]
    """Groups of users that may submit, watch and cancel jobs here, as the cluster's login names them. Default: none."""
    service_account: NotRequired[str]
    """Service account of jobs; it has no rights. Default trainer."""
    docker_config: NotRequired[Annotated[pulumi.Input[str], Encrypted()]]
    """Logins of registries: the JSON of a .dockerconfigjson, as a secret. Default:
    none; nodes of EKS and AKS pull from their cloud's registry without."""
    ngc_key: NotRequired[Annotated[pulumi.Input[str], Encrypted()]]
    """API key of NGC, as a secret: pods then pull from nvcr.io, beside what docker_config logs in to. Default: none."""
    pull_secret: NotRequired[str]
    """Name of the secret with that login. Default registry."""
    pod_security: NotRequired[PodSecurity]
    """Level of Pod Security that is enforced: restricted, baseline or privileged. Default restricted, under which
    training with GPUs and EFA runs."""
    exception: NotRequired[str]
    """Why a level below restricted is needed, and what for; written on the namespace."""
    users: NotRequired[Mapping[str, UserArgs]]
    """Users by login name, whose jobs then run under their own uid; `gpufleet users read` writes the mapping. No pod
    here mounts the shared files under other ids. Default: none; jobs run as uid 1000 of their image."""
    gid: NotRequired[int]
    """Group of the team's own files, which the jobs of its users have besides their own. Default: none."""
    least_id: NotRequired[int]
    """Least uid and gid of a person. Default 1000; older systems began at 500."""


class TeamArgs(TeamConfig):
    """The same, and which namespace it is."""

    namespace: str
    """Name of the namespace."""
    volume_claim: NotRequired[str]
    """Claim of the shared files in this namespace, which goes with the users' ids only. Default shared."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects, for instance owner, project, environment, expires-at."""


def plan_namespace(args: TeamArgs) -> dict[str, Any]:
    """The namespace, with its level of Pod Security; what falls short of restricted is warned of at any level.

    Source: kubernetes.io/docs/concepts/security/pod-security-admission/
    """
    level = args.get("pod_security", "restricted")
    security = {
        "pod-security.kubernetes.io/enforce": level,
        "pod-security.kubernetes.io/warn": "restricted",
        "pod-security.kubernetes.io/audit": "restricted",
    }
    metadata: dict[str, Any] = {"name": args["namespace"], "labels": security}
    if "exception" in args:
        metadata["annotations"] = {"gpufleet.dev/pod-security-exception": args["exception"]}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def plan_service_account(args: TeamArgs) -> dict[str, Any]:
    """The service account of jobs: no token, no rights, only the registry's login."""
    account: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": args.get("service_account", "trainer"), "namespace": args["namespace"]},
        "automountServiceAccountToken": False,
    }
    if _has_login(args):
        account["imagePullSecrets"] = [{"name": args.get("pull_secret", "registry")}]
    return account


def plan_network_policies(args: TeamArgs) -> dict[str, dict[str, Any]]:
    """The network policies by name: in from the team's own pods, out to anywhere but the nodes' identities.

    The ranks of a job open ports of their own choice among each other, so that no list of ports would do. Storage,
    registries and data sets lie outside of the cluster. Node-local traffic, such as the kubelet's probes, is never
    filtered. All policies select every pod: the VPC CNI's agent mixes up the policies of single pods whose names begin
    alike (aws/aws-network-policy-agent#327), which does no harm where they are the same.

    Each kind of peer has its own entry because Cilium, AKS's data plane, does not take a block of addresses for pods or
    nodes: pods by their namespaces; what is outside by its addresses; DNS and API servers on nodes by port, the one
    way in which a NetworkPolicy reaches a node there. Node identities are served on port 80.

    Sources: kubernetes.io/docs/concepts/services-networking/network-policies/;
    learn.microsoft.com/azure/aks/azure-cni-powered-by-cilium (frequently asked questions);
    docs.cilium.io/en/stable/security/policy/kubernetes/; cilium/cilium pkg/ipcache/metadata.go, resolveLabels.
    """

    def policy(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        metadata = {"name": name, "namespace": args["namespace"]}
        everybody: dict[str, Any] = {"podSelector": {}}
        return {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata,
            "spec": {**everybody, **spec},
        }

    outside = [{"ipBlock": {"cidr": "0.0.0.0/0", "except": [METADATA_ADDRESS]}}, {"ipBlock": {"cidr": "::/0"}}]
    egress = [{"to": [{"namespaceSelector": {}}, *outside]}, {"ports": NODE_PORTS}]
    return {
        "in-from-team": policy(
            "in-from-team", {"policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]}
        ),
        "out-but-node-identity": policy("out-but-node-identity", {"policyTypes": ["Egress"], "egress": egress}),
    }


class Team(Component):
    """A team's namespace: Pod Security, network policies, a service account without rights, registry login, and a
    policy that admits only its users' ids to the shared files.
    """

    namespace: pulumi.Output[str]
    """Name of the namespace, for everything in it: made after it, deleted before it."""
    service_account: pulumi.Output[str]
    """Name of the service account of jobs."""
    pull_secret: pulumi.Output[str | None]
    """Name of the secret with the registry's login; None without one."""

    def __init__(self, name: str, args: TeamArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[TeamArgs]) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: TeamArgs) -> list[Finding]:
        return validate_team(args)

    def create(self, name: str, args: TeamArgs) -> None:
        labels = args.get("labels", {})
        namespace = kubernetes_object(f"{name}-namespace", labelled(plan_namespace(args), labels), self.child())
        self._namespace = namespace
        # With a namespace goes all that is in it.
        inside = self.child(depends_on=[namespace], deleted_with=namespace)
        account = kubernetes_object(f"{name}-service-account", labelled(plan_service_account(args), labels), inside)
        for policy, document in plan_network_policies(args).items():
            kubernetes_object(f"{name}-{policy}", labelled(document, labels), inside)
        for part, document in plan_team_role(args).items():
            kubernetes_object(f"{name}-{part}", labelled(document, labels), inside)
        for part, document in plan_uid_admission_policy(args).items():
            # In no namespace, so that it does not go with this one.
            kubernetes_object(f"{name}-{part}", labelled(document, labels), self.child(depends_on=[namespace]))
        self.namespace = with_dependencies(pulumi.Output.from_input(args["namespace"]), namespace)
        self.service_account = with_dependencies(
            pulumi.Output.from_input(args.get("service_account", "trainer")), account
        )
        self.pull_secret = pulumi.Output.from_input(None)
        if _has_login(args):
            secret = kubernetes_object(f"{name}-pull-secret", labelled(_pull_secret(args), labels), inside)
            self.pull_secret = with_dependencies(pulumi.Output.from_input(args.get("pull_secret", "registry")), secret)

    @property
    def namespace_object(self) -> pulumi.Resource:
        """The namespace itself, for `deleted_with` of what is in it and would wait for its jobs. In Python only."""
        return self._namespace


def _has_login(args: TeamArgs) -> bool:
    return "docker_config" in args or "ngc_key" in args


def _pull_secret(args: TeamArgs) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/dockerconfigjson",
        "metadata": {"name": args.get("pull_secret", "registry"), "namespace": args["namespace"]},
        "stringData": {".dockerconfigjson": registry_login(args.get("docker_config"), args.get("ngc_key"))},
    }
