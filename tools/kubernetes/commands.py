"""The command line of each process of the control plane. Pure: places and ports in, words out."""

from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
SERVICES = "10.96.0.0/16"
PODS = "10.128.0.1/14"
FAKE_NODE = "kwok.x-k8s.io/node=fake"
"""The annotation of the nodes that kwok plays; others, if any, are left alone."""


@dataclass(frozen=True)
class Layout:
    """Where one control plane keeps things, and on which ports of 127.0.0.1 it listens."""

    home: Path
    api_port: int
    etcd_port: int
    etcd_peer_port: int
    kubelet_port: int

    @property
    def server(self) -> str:
        return f"https://{HOST}:{self.api_port}"

    @property
    def certificates(self) -> Path:
        return self.home / "certificates"

    @property
    def authority(self) -> Path:
        """What clients of the API server trust; it writes the file itself when it starts first."""
        return self.certificates / "apiserver.crt"

    @property
    def signing_key(self) -> Path:
        return self.home / "service-accounts.key"

    @property
    def tokens(self) -> Path:
        return self.home / "tokens.csv"

    @property
    def kubeconfig(self) -> Path:
        return self.home / "kubeconfig"

    @property
    def stages(self) -> Path:
        return self.home / "stages.yaml"

    @property
    def ports(self) -> tuple[int, ...]:
        return (self.api_port, self.etcd_port, self.etcd_peer_port, self.kubelet_port)


def etcd(layout: Layout) -> list[str]:
    """A cluster of one. It does not wait for the disk: what a rehearsal stores may be lost with the machine."""
    client, peer = f"http://{HOST}:{layout.etcd_port}", f"http://{HOST}:{layout.etcd_peer_port}"
    return [
        "--name=rehearsal",
        f"--data-dir={layout.home / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=rehearsal={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def kube_apiserver(layout: Layout) -> list[str]:
    """RBAC, tokens, service accounts. Pods may be privileged, as EKS allows: device plugins ask for it."""
    return [
        f"--etcd-servers=http://{HOST}:{layout.etcd_port}",
        f"--bind-address={HOST}",
        f"--secure-port={layout.api_port}",
        # An address of documentation (RFC 5737): the one of this machine is not looked for, and nobody is to use it.
        "--advertise-address=192.0.2.1",
        "--endpoint-reconciler-type=none",
        f"--cert-dir={layout.certificates}",
        f"--service-account-key-file={layout.signing_key}",
        f"--service-account-signing-key-file={layout.signing_key}",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--token-auth-file={layout.tokens}",
        "--authorization-mode=RBAC",
        f"--service-cluster-ip-range={SERVICES}",
        "--allow-privileged=true",
        "--kubelet-preferred-address-types=InternalIP",
    ]


def kube_controller_manager(layout: Layout) -> list[str]:
    """A busy or suspended machine sends the heartbeats of fake nodes late. Past the grace period (50 s by default) the
    controller marks a node's pods as not ready, and kwok, unlike a kubelet, never marks them as ready again.
    """
    return [
        f"--kubeconfig={layout.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials=false",
        f"--service-account-private-key-file={layout.signing_key}",
        f"--root-ca-file={layout.authority}",
        "--node-monitor-grace-period=10m",
        "--kube-api-qps=300",
        "--kube-api-burst=600",
    ]


def kube_scheduler(layout: Layout) -> list[str]:
    return [
        f"--kubeconfig={layout.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=300",
        "--kube-api-burst=600",
    ]


def kwok(layout: Layout) -> list[str]:
    """Plays the kubelets of all nodes with the annotation, logs and commands in pods included, on one port."""
    return [
        f"--kubeconfig={layout.kubeconfig}",
        f"--config={layout.stages}",
        "--manage-all-nodes=false",
        f"--manage-nodes-with-annotation-selector={FAKE_NODE}",
        f"--cidr={PODS}",
        f"--node-ip={HOST}",
        f"--node-port={layout.kubelet_port}",
        f"--server-address={HOST}:{layout.kubelet_port}",
        f"--tls-cert-file={layout.authority}",
        f"--tls-private-key-file={layout.certificates / 'apiserver.key'}",
        "--enable-crds=Logs,Exec",
    ]
