"""Team: a namespace in which a team trains, closed to others, with what its pods need to pull images."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.ordering import after
from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments
from gpufleet.rules.kubernetes.team import judge_team

METADATA_ADDRESS = "169.254.169.254/32"
"""Where AWS and Azure hand out a node's identity. Pod identities are elsewhere: 169.254.170.23 on EKS."""


class TeamArgs(TypedDict):
    """A namespace, who works in it, and what its pods may do."""

    namespace: str
    """Name of the namespace."""
    groups: NotRequired[Sequence[str]]
    """Groups of users that may submit, watch and cancel jobs here, as the cluster's login names them. Default: none."""
    service_account: NotRequired[str]
    """Service account of jobs; it has no rights. Default trainer."""
    docker_config: NotRequired[pulumi.Input[str]]
    """Login of a registry: the JSON of a .dockerconfigjson, as a secret; `ngc_login` writes it for nvcr.io. Default:
    none; nodes of EKS and AKS pull from their cloud's registry without."""
    pull_secret: NotRequired[str]
    """Name of the secret with that login. Default registry."""
    pod_security: NotRequired[str]
    """Level of Pod Security that is enforced: restricted, baseline or privileged. Default restricted, under which
    training with GPUs and EFA runs."""
    exception: NotRequired[str]
    """Why a level below restricted is needed, and what for; written on the namespace."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects, for instance owner, project, environment, expires-at."""


def ngc_login(api_key: pulumi.Input[str]) -> pulumi.Output[str]:
    """The registry login for nvcr.io, a secret: the user is literally $oauthtoken.

    Source: docs.nvidia.com/ngc/latest/ngc-private-registry-user-guide.html
    """
    key = pulumi.Output.secret(api_key)
    login = {"auths": {"nvcr.io": {"username": "$oauthtoken", "password": key}}}
    return pulumi.Output.json_dumps(login)


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
    if "docker_config" in args:
        account["imagePullSecrets"] = [{"name": args.get("pull_secret", "registry")}]
    return account


def plan_network_policies(args: TeamArgs) -> dict[str, dict[str, Any]]:
    """The network policies by name: in from the team's own pods, out to anywhere but the nodes' identities.

    The ranks of a job open ports of their own choice among each other, so that no list of ports would do. Storage,
    registries and data sets lie outside of the cluster. Node-local traffic, such as the kubelet's probes, is never
    filtered. Source: kubernetes.io/docs/concepts/services-networking/network-policies/.
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

    anywhere = [{"ipBlock": {"cidr": "0.0.0.0/0", "except": [METADATA_ADDRESS]}}, {"ipBlock": {"cidr": "::/0"}}]
    return {
        "in-from-team": policy(
            "in-from-team", {"policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]}
        ),
        "out-but-node-identity": policy(
            "out-but-node-identity", {"policyTypes": ["Egress"], "egress": [{"to": anywhere}]}
        ),
    }


def plan_role_binding(args: TeamArgs) -> dict[str, Any] | None:
    """The binding of the team's groups to Kubernetes' own role `edit`, into which the MPI operator's manifest puts
    MPIJobs; None without groups."""
    groups = args.get("groups", ())
    if not groups:
        return None
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "team", "namespace": args["namespace"]},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group} for group in groups],
    }


class Team(pulumi.ComponentResource):
    """A team's namespace: Pod Security, network policies, a service account without rights, its registry's login.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    namespace: pulumi.Output[str]
    """Name of the namespace, for whoever is in it: made after it, deleted before it."""
    service_account: pulumi.Output[str]
    pull_secret: pulumi.Output[str | None]
    """Name of the secret with the registry's login; None without one."""

    def __init__(self, name: str, args: TeamArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        refuse_or_warn(name, [*judge_arguments(args, TeamArgs), *judge_team(args)])
        super().__init__("gpufleet-kubernetes:index:Team", name, {}, opts)
        labels = args.get("labels", {})
        namespace = kubernetes_object(
            f"{name}-namespace", labelled(plan_namespace(args), labels), pulumi.ResourceOptions(parent=self)
        )
        # With a namespace goes all that is in it.
        inside = pulumi.ResourceOptions(parent=self, depends_on=[namespace], deleted_with=namespace)
        self._namespace = namespace
        account = kubernetes_object(f"{name}-service-account", labelled(plan_service_account(args), labels), inside)
        for policy, document in plan_network_policies(args).items():
            kubernetes_object(f"{name}-{policy}", labelled(document, labels), inside)
        if (binding := plan_role_binding(args)) is not None:
            kubernetes_object(f"{name}-role-binding", labelled(binding, labels), inside)
        self.namespace = after(pulumi.Output.from_input(args["namespace"]), namespace)
        self.service_account = after(pulumi.Output.from_input(args.get("service_account", "trainer")), account)
        self.pull_secret = pulumi.Output.from_input(None)
        if "docker_config" in args:
            secret = kubernetes_object(f"{name}-pull-secret", labelled(_pull_secret(args), labels), inside)
            self.pull_secret = after(pulumi.Output.from_input(args.get("pull_secret", "registry")), secret)
        self.register_outputs(
            {
                "namespace": self.namespace,
                "service_account": self.service_account,
                "pull_secret": self.pull_secret,
            }
        )

    @property
    def namespace_object(self) -> pulumi.Resource:
        """The namespace itself, for `deleted_with` of what is in it and would wait for its jobs. In Python only."""
        return self._namespace


def _pull_secret(args: TeamArgs) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/dockerconfigjson",
        "metadata": {"name": args.get("pull_secret", "registry"), "namespace": args["namespace"]},
        "stringData": {".dockerconfigjson": pulumi.Output.secret(args["docker_config"])},
    }
