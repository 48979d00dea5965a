"""Notebooks: JupyterHub in a team's namespace, so that a researcher needs a browser and the shared folder only."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.catalog.jupyterhub_chart import jupyterhub_chart
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.kubernetes.jupyterhub_values import plan_access, plan_values
from gpufleet.kubernetes.notebook_profiles import NotebookLimits, NotebookPool
from gpufleet.kubernetes.notebook_rbac import plan_jobs_configmap, plan_rights
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.pools.eks_pool import Taint
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.jupyterhub import hub_access, validate_hub_login
from gpufleet.rules.kubernetes.notebooks import validate_notebooks
from gpufleet.typed_dicts import Encrypted

Service = Literal["LoadBalancer", "ClusterIP", "NodePort"]
Database = Literal["volume", "memory"]

PORT = 8000
"""Port on the user's own machine, from which `kubectl port-forward` leads to a hub that has no address."""
CHARTS = "https://jupyterhub.github.io/helm-chart"


class NotebookUser(TypedDict):
    """The ids under which a user's notebooks run, and write on the shared volume."""

    uid: int
    """User id, 1000 or more."""
    gid: int
    """Id of the group that is shared with the team."""


class NotebookOidc(TypedDict):
    """Login by OpenID Connect. The provider sends users back to https://<host>/hub/oauth_callback."""

    client_id: NotRequired[str]
    """The hub's id at the provider."""
    client_secret: NotRequired[Annotated[pulumi.Input[str], Encrypted()]]
    """As a secret."""
    authorize_url: NotRequired[str]
    """authorization_endpoint of <issuer>/.well-known/openid-configuration."""
    token_url: NotRequired[str]
    """token_endpoint of it."""
    userdata_url: NotRequired[str]
    """userinfo_endpoint of it."""
    scope: NotRequired[Sequence[str]]
    """Default [openid, profile, email]."""
    username_claim: NotRequired[str]
    """Claim with the user's name, as `users` has it. Default preferred_username."""
    groups_claim: NotRequired[str]
    """Claim with the user's groups. Default groups."""
    allowed_groups: NotRequired[Sequence[str]]
    """Groups whose members may log in. Default: everybody in `users`."""
    name: NotRequired[str]
    """What the button says to log in with. Default OpenID Connect."""


class NotebookTls(TypedDict):
    """Where the certificate comes from: one of both."""

    secret: NotRequired[str]
    """Secret of type kubernetes.io/tls in the namespace."""
    letsencrypt_email: NotRequired[str]
    """Let's Encrypt makes one, and writes to this address. `host` has to lead to the hub from the internet, port 80
    too."""


class NotebooksConfig(TypedDict):
    """A hub: where it is, who logs in how, and what notebooks are."""

    host: NotRequired[str]
    """DNS name of the hub, for instance notebooks.example.com; point it at the service proxy-public. Default: none;
    users come by `kubectl port-forward`."""
    images: Sequence[str]
    """Images to choose from, each with a tag or digest; the first is the default. They hold jupyterhub-singleuser of
    JupyterHub 5, and for `gpufleet.jobs.submit` gpufleet, OpenMPI and sshd."""
    admins: NotRequired[Sequence[str]]
    """Users who may see and end others' notebooks. Default: none."""
    oidc: NotRequired[NotebookOidc]
    """Login by OpenID Connect. Default, in dev only: the dummy login, which takes any name, and no public address."""
    dummy_password: NotRequired[Annotated[pulumi.Input[str], Encrypted()]]
    """Password of the dummy login, as a secret, one for everybody. Default: any."""
    tls: NotRequired[NotebookTls]
    """The certificate. Default, in dev only: none."""
    service: NotRequired[Service]
    """How the hub is reached: LoadBalancer, ClusterIP (`kubectl port-forward`, or your own ingress) or NodePort.
    Default LoadBalancer; with the dummy login ClusterIP."""
    service_annotations: NotRequired[Mapping[str, str]]
    """Annotations of that service, for instance of a load balancer inside of the VPC. Default: none."""
    idle_minutes: NotRequired[int]
    """Minutes without activity after which a notebook ends; 0: never. Default 60."""
    max_age_hours: NotRequired[int]
    """Hours after which it ends in any case. Default 0: none."""
    limits: NotRequired[NotebookLimits]
    """vCPUs and memory of a notebook."""
    database: NotRequired[Database]
    """volume: the hub's own file on a volume of 1 GiB, which outlives its pod; or memory: when the hub restarts, it
    forgets notebooks that run. Default volume."""
    storage_class: NotRequired[str]
    """Storage class of that volume, one of `kubectl get storageclass`. Default: on EKS that is made here a class of
    EBS, on AKS managed-csi; elsewhere it has to be given."""
    service_account: NotRequired[str]
    """Service account of notebooks. Default notebook."""
    proxy_token: NotRequired[Annotated[pulumi.Input[str], Encrypted()]]
    """64 hexadecimal digits, as a secret. Default: the chart makes one and keeps it."""
    cookie_secret: NotRequired[Annotated[pulumi.Input[str], Encrypted()]]
    """The same of the hub's cookies."""
    version: NotRequired[str]
    """Version of the chart. Default 4.4.0."""
    values: NotRequired[Mapping[str, Any]]
    """Further values of the chart, which win over those of here, mapping by mapping."""


class NotebooksArgs(NotebooksConfig):
    """The same for one team: its namespace, users, GPUs and files."""

    namespace: str
    """Namespace of the team. It has to exist."""
    environment: str
    """Name of the environment. One called dev or ...-dev may do without TLS and OIDC."""
    pools: Mapping[str, NotebookPool]
    """GPU nodes by a name of your choice."""
    volume_claim: pulumi.Input[str]
    """PersistentVolumeClaim (ReadWriteMany) of the shared files, at /mnt; home is /mnt/home/<user>."""
    purpose: NotRequired[str]
    """dev: for trying things out, whatever the environment is called. Default: none."""
    users: NotRequired[Mapping[str, NotebookUser]]
    """Users by name, with their uid and gid; others get no notebook. Default: everybody who may log in, as uid 1000."""
    gid: NotRequired[int]
    """Group of the team's own files, which all notebooks have too. Default: none."""
    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that the hub and all notebooks run on. Default: any node."""
    taints: NotRequired[Sequence[Taint]]
    """Taints that these nodes may have besides nvidia.com/gpu: with this argument, hub and notebooks without GPU
    tolerate all of them, and take nodes with GPUs where there are no others. Default: they keep off such nodes."""
    pull_secret: NotRequired[pulumi.Input[str]]
    """Secret with the registry's login. Default: none."""
    jobs: NotRequired[Mapping[str, Any]]
    """Settings of `gpufleet.jobs.submit`: the stack's output `jobs`. Default: none, and it cannot submit jobs."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects and of the pods."""
    object_labels: NotRequired[Mapping[str, str]]
    """More labels of the objects but not of pods, so that a change of them restarts nothing. Default: none."""


class Notebooks(Component):
    """JupyterHub in a team's namespace, a profile for each kind and number of GPUs, and the notebooks' permissions.

    A hub for each team: the pods of notebooks are in the namespace of their hub, and so under the team's Pod Security
    and network policies, without any right of the hub's elsewhere.
    """

    address: pulumi.Output[str]
    """Where users go, for instance https://notebooks.example.com; without a host http://localhost:8000."""
    port_forward: pulumi.Output[str]
    """The command that opens that address where the service is ClusterIP: `kubectl port-forward ...`. Else empty."""

    def __init__(
        self, name: str, args: NotebooksArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NotebooksArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NotebooksArgs) -> list[Finding]:
        return [*validate_notebooks(args), *validate_hub_login(plan_access(args))]

    def create(self, name: str, args: NotebooksArgs) -> None:
        labels = {**args.get("labels", {}), **args.get("object_labels", {})}
        objects = plan_rights(args) | ({"jobs": plan_jobs_configmap(args)} if "jobs" in args else {})
        made = [
            kubernetes_object(f"{name}-{part}", labelled(document, labels), self.child())
            for part, document in objects.items()
        ]
        release = chart_release(
            f"{name}-release",
            chart="jupyterhub",
            version=args.get("version", jupyterhub_chart().chart),
            namespace=args["namespace"],
            values=plan_values(_with_secrets(args)),
            opts=self.child(depends_on=made),
            repository=CHARTS,
        )
        scheme = "https" if args.get("tls") else "http"
        address = f"{scheme}://{args['host']}" if "host" in args else f"http://localhost:{PORT}"
        self.address = with_dependencies(pulumi.Output.from_input(address), release)
        inside = hub_access(plan_access(args)).reach == "port-forward"
        command = f"kubectl port-forward -n {args['namespace']} service/proxy-public {PORT}:http"
        self.port_forward = pulumi.Output.from_input(command if inside else "")


def _with_secrets(args: NotebooksArgs) -> dict[str, Any]:
    """The arguments, with what nobody may read marked as such, also where a program gave it as plain text."""
    marked: dict[str, Any] = dict(args)
    for key in ("dummy_password", "proxy_token", "cookie_secret"):
        if key in marked:
            marked[key] = pulumi.Output.secret(marked[key])
    if oidc := args.get("oidc"):
        marked["oidc"] = {**oidc, "client_secret": pulumi.Output.secret(oidc["client_secret"])}
    return marked
